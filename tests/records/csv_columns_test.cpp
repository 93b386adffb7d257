#include "records/csv_columns.h"

#include "storage/content.h"

#include <gtest/gtest.h>

namespace cohort::records {
namespace {

using Numbers = std::vector<float>;
const WantedColumns kNamed{.names = {"a", "b"}, .count = 2, .target = "y"};
const WantedColumns kUnnamed{.count = 2};

TEST(CsvColumns, AreFoundByName) {
  const auto table = parse_csv_columns("b,id,a\n1,x,2\n3,\"y, z\",4\n", "t.csv", kNamed);
  ASSERT_TRUE(table) << table.error().text();
  EXPECT_EQ(table->numbers, (Numbers{2, 1, 4, 3}));
  EXPECT_EQ(table->header, (std::vector<std::string>{"b", "id", "a"}));
  EXPECT_EQ(table->rows[1], (std::vector<std::string>{"3", "y, z", "4"}));
}

TEST(CsvColumns, WithoutNamesCountFromTheLeft) {
  EXPECT_EQ(parse_csv_columns("1,2\n3,4", "t", kNamed)->numbers, (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(parse_csv_columns("p,q\n1,2\n", "t", kUnnamed)->numbers, (Numbers{1, 2}));
  const WantedColumns with_target{.count = 2, .target = "y"};
  EXPECT_EQ(parse_csv_columns("p,y,q\n1,9,2\n", "t", with_target)->numbers, (Numbers{1, 2}));
}

TEST(CsvColumns, NamesThoseThatAreMissing) {
  const auto table = parse_csv_columns("a,c\n1,2\n", "t.csv", kNamed);
  ASSERT_EQ(code_name(table), "usage");
  EXPECT_EQ(table.error().message(),
            "'t.csv' has no column 'b', which the model takes; its columns are 'a', 'c'");
  EXPECT_EQ(parse_csv_columns("1,2,3\n", "t.csv", kNamed).error().message(),
            "'t.csv' has 3 columns; the model takes 2");
}

TEST(CsvColumns, NamesTheCellThatIsNoNumber) {
  const auto table = parse_csv_columns("a,b\n1,2\n3,four\n", "t.csv", kNamed);
  ASSERT_EQ(code_name(table), "corrupt");
  EXPECT_EQ(table.error().message(), "'t.csv' line 3, column 2: 'four' is not a number");
  EXPECT_EQ(parse_csv_columns("a,b\n1\n", "t.csv", kNamed).error().message(),
            "'t.csv' line 2: 1 cells, where the first row has 2");
  EXPECT_EQ(code_name(parse_csv_columns("", "t.csv", kNamed)), "corrupt");
}

TEST(CsvColumns, OfAHeaderAloneHaveNoRows) {
  EXPECT_TRUE(parse_csv_columns("a,b\n", "t.csv", kNamed)->rows.empty());
}

TEST(CsvColumns, CellsAreQuotedWhereNecessary) {
  EXPECT_EQ(csv_cell("plain"), "plain");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("say \"x\"\n"), "\"say \"\"x\"\"\n\"");
}

}  // namespace
}  // namespace cohort::records
