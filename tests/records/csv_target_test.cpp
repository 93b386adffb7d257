#include "record_bytes.h"
#include "records/csv_table.h"

namespace cohort::records {
namespace {

// A file whose last column has these cells.
Result<CsvTable> read_targets(const std::vector<std::string>& cells, CsvTarget target) {
  std::string text = "x,y\n";
  for (const std::string& cell : cells) text += "1," + cell + "\n";
  return parse_csv(text, "t.csv", {.target = target});
}

std::string error_of(const std::vector<std::string>& cells, CsvTarget target) {
  return text_of(read_targets(cells, target));
}

TEST(CsvTarget, AutoTakesTextAsClassesAndFractionsAsNumbers) {
  EXPECT_EQ(read_targets({"b", "a", "b"}, CsvTarget::kAuto)->class_names,
            (std::vector<std::string>{"a", "b"}));
  const auto numbers = read_targets({"1", "-2", "0.5"}, CsvTarget::kAuto);
  EXPECT_TRUE(numbers->class_names.empty());
  EXPECT_EQ(numbers->targets, (std::vector<float>{1, -2, 0.5f}));
}

TEST(CsvTarget, AutoAsksWhereItIsAmbiguous) {
  EXPECT_EQ(error_of({"0", "9", "4"}, CsvTarget::kAuto),
            "column 'y' of 't.csv' has whole numbers from 0 to 9, which may be classes or numbers. Set "
            "data.target = \"class\" to tell them apart, or \"number\" to predict their value.");
  EXPECT_EQ(read_targets({"0", "9"}, CsvTarget::kAuto).error().code(), ErrorCode::kUsage);
  EXPECT_EQ(error_of({"1.5", "2.5x", "3"}, CsvTarget::kAuto),
            "column 'y' of 't.csv' has numbers, such as '1.5' in line 2, and text, such as '2.5x' in line 3. "
            "Set data.target = \"class\" if all of them are names of classes; correct the text if the column "
            "is numbers.");
}

TEST(CsvTarget, WholeNumbersAreNumbersOrClassesAsTheSettingSays) {
  const auto numbers = read_targets({"7", "-1", "7", "100"}, CsvTarget::kNumber);
  EXPECT_TRUE(numbers->class_names.empty());
  EXPECT_EQ(numbers->targets, (std::vector<float>{7, -1, 7, 100}));
  const auto classes = read_targets({"7", "-1", "7.0", "100"}, CsvTarget::kClass);
  EXPECT_EQ(classes->class_names, (std::vector<std::string>{"-1", "7", "100"}));
  EXPECT_EQ(classes->targets, (std::vector<float>{1, 0, 1, 2}));
}

TEST(CsvTarget, ADisagreementNamesTheSettingAndTheCell) {
  EXPECT_EQ(error_of({"1", "b"}, CsvTarget::kNumber),
            "data.target = \"number\", but column 'y' of 't.csv' has 'b' in line 3. Set data.target = "
            "\"class\", or name another column with data.target_column.");
  EXPECT_EQ(error_of({"1", "0.5", "b"}, CsvTarget::kClass), "") << "a text makes all of them names";
  EXPECT_EQ(
      error_of({"1", "0.5"}, CsvTarget::kClass),
      "data.target = \"class\", but column 'y' of 't.csv' has '0.5' in line 3; classes are text or whole "
      "numbers up to 16777216. Set data.target = \"number\", or name another column with "
      "data.target_column.");
  EXPECT_EQ(error_of({"16777216"}, CsvTarget::kClass), "");
  EXPECT_NE(error_of({"16777218"}, CsvTarget::kClass), "") << "its neighbours are the same float";
}

}  // namespace
}  // namespace cohort::records
