#include "record_bytes.h"
#include "records/csv_rows.h"
#include "records/csv_table.h"
#include "storage/memory_file_system.h"

namespace cohort::records {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Result<Rows> rows_of(std::string_view text) {
  CsvRows rows(text, "t.csv");
  CsvRow row;
  Rows all;
  while (true) {
    COHORT_ASSIGN_OR_RETURN(const bool more, rows.next(row));
    if (!more) return all;
    all.emplace_back(row.cells.begin(), row.cells.end());
  }
}

const CsvOptions kNumbers{.target = CsvTarget::kNumber};

std::string error_of(std::string_view text, const CsvOptions& options = kNumbers) {
  return text_of(parse_csv(text, "t.csv", options));
}

TEST(CsvRows, CutsCellsAndLines) {
  const Rows expected{{"a", "b"}, {"1", ""}, {"", "2"}};
  for (std::string_view text : {"a,b\n1,\n,2\n", "a,b\n1,\n,2", "a,b\r\n1,\r\n,2\r\n", "a,b\r\n1,\r\n,2\r",
                                "\xEF\xBB\xBF"
                                "a,b\n\n1,\n\r\n\n,2\n\n"}) {
    const auto rows = rows_of(text);
    ASSERT_TRUE(rows) << rows.error().text();
    EXPECT_EQ(*rows, expected) << text;
  }
}

TEST(CsvRows, TakesQuotedCells) {
  EXPECT_EQ(*rows_of("\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\"\n\"\",\"\"\"\",x"),
            (Rows{{"a,b", "say \"hi\"", "two\nlines"}, {"", "\"", "x"}}));
}

TEST(CsvRows, AnEmptyTextHasNone) {
  EXPECT_EQ(*rows_of(""), Rows{});
  EXPECT_EQ(*rows_of("\n\r\n"), Rows{});
}

TEST(CsvRows, NamesThePlaceOfAWrongQuote) {
  EXPECT_EQ(text_of(rows_of("a,b\n1,\"two\nthree")), "'t.csv' line 2, column 2: the quote is never closed");
  EXPECT_EQ(text_of(rows_of("a\n\"x\ny\"z\n")),
            "'t.csv' line 3, column 1: something follows the closing quote");
  EXPECT_EQ(text_of(rows_of("a\nx\"y\n")),
            "'t.csv' line 2, column 1: a quote stands within a cell that does not begin with one. Put the "
            "whole cell in "
            "quotes and write each quote inside twice.");
}

TEST(CsvTable, ReadsFeaturesAndANumericTarget) {
  const auto table = parse_csv("x, y ,price\n1,-2.5,10\n 3 ,+4e2,\"20.5\"\n", "t.csv");
  ASSERT_TRUE(table) << table.error().text();
  EXPECT_EQ(table->feature_names, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(table->target_name, "price");
  EXPECT_EQ(table->features, (std::vector<float>{1, -2.5f, 3, 400}));
  EXPECT_EQ(table->targets, (std::vector<float>{10, 20.5f}));
  EXPECT_TRUE(table->class_names.empty());
}

TEST(CsvTable, NumbersTextClassesInSortedOrder) {
  const auto table =
      parse_csv("kind,x\nsetosa,1\n\"iris, blue\",2\n7,3\nsetosa,4\n", "t.csv", {"kind", CsvTarget::kClass});
  ASSERT_TRUE(table) << table.error().text();
  EXPECT_EQ(table->class_names, (std::vector<std::string>{"7", "iris, blue", "setosa"}));
  EXPECT_EQ(table->targets, (std::vector<float>{2, 1, 0, 2}));
  EXPECT_EQ(table->features, (std::vector<float>{1, 2, 3, 4}));
}

TEST(CsvTable, NamesLineAndColumnOfWhatIsWrong) {
  EXPECT_EQ(error_of("x,y\n1,2\n\n3x,4\n"), "'t.csv' line 4, column 1 ('x'): '3x' is not a number");
  EXPECT_EQ(error_of("x,y\n\"a\nb\",2\n"), "'t.csv' line 2, column 1 ('x'): 'a b' is not a number");
  EXPECT_EQ(error_of("x,y\n1,2\n,4\n"), "'t.csv' line 3, column 1 ('x'): the cell is empty");
  EXPECT_EQ(error_of("x,y\n1, \n"), "'t.csv' line 2, column 2 ('y'): the cell is empty");
  EXPECT_EQ(error_of("x,y\n1,2,3\n"), "'t.csv' line 2: 3 cells, where the header has 2");
  EXPECT_EQ(error_of("x,y\n1\n"), "'t.csv' line 2: 1 cells, where the header has 2");
  EXPECT_EQ(error_of("x,y,x\n1,2,3\n"),
            "'t.csv' line 1, column 3 ('x'): an earlier column has the same name");
  for (const char* number : {"inf", "nan", "1e39", "0x10", "1,5", "--1", "+-1", "1 2"}) {
    EXPECT_FALSE(parse_csv("x,y\n" + std::string("\"") + number + "\",1\n", "t.csv", kNumbers)) << number;
  }
}

TEST(CsvTable, RefusesFilesWithoutHeaderRowsOrColumns) {
  EXPECT_EQ(error_of(""), "'t.csv' is empty");
  EXPECT_EQ(error_of("x,y\n"), "'t.csv' has a header and no rows");
  EXPECT_NE(error_of("1,2\n3,4\n").find("numbers stand where the header should be. Begin the file"),
            std::string::npos);
  EXPECT_NE(error_of("x;y\n1;2\n").find("has one column only"), std::string::npos);
  EXPECT_EQ(error_of("x,y\n1,2\n", {"z"}),
            "'t.csv' has no column 'z'. Name one of its 2 columns as the target; the last one is 'y'.");
}

TEST(CsvTable, CutAnywhereNeverGivesAnotherTableSilently) {
  const std::string whole = "x,y,z\n1,2,3\n4,5,6\n";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto table = parse_csv(whole.substr(0, size), "t.csv", kNumbers);
    if (!table) continue;
    // Only where a line or its last number ended can it pass.
    ASSERT_TRUE(size == 11 || size == 12 || size == 17) << size;
    EXPECT_EQ(table->num_rows() * 2, table->features.size());
  }
}

TEST(CsvTable, ReadsPackedFiles) {
  MemoryFileSystem fs;
  put(fs, "t.csv.gz", gzipped("x,y\n1,2\n"));
  EXPECT_EQ(read_csv(fs, "t.csv.gz", kNumbers)->targets, std::vector<float>{2});
}

}  // namespace
}  // namespace cohort::records
