#include "observe/line_chart.h"

#include <gtest/gtest.h>
#include <sstream>

namespace cohort::observe {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Three points over two decades: left and top, in the middle, right and bottom.
TEST(LineChart, DrawsALineOverALogarithmicAxis) {
  const auto lines = lines_of(line_chart({{0.01, 9, 3}, {0.1, 2, 2}, {1, 1.5, 1}}, {.columns = 54}));
  ASSERT_EQ(lines.size(), 14u);
  const std::size_t left = 13;
  EXPECT_EQ(lines[0].substr(0, left + 1), "          3 |*");
  EXPECT_EQ(lines[11].size(), left + 41);
  EXPECT_EQ(lines[11].substr(0, left), "          1 |");
  EXPECT_EQ(lines[11].back(), '*');
  EXPECT_EQ(lines[6][left + 20], '*') << "0.1 is half way on a logarithmic axis";
  EXPECT_EQ(lines[8].back(), '.');
  EXPECT_EQ(lines[13].substr(left, 4), "0.01");
  EXPECT_EQ(lines[13].back(), '1');
  EXPECT_EQ(line_chart({{0.01, 9, 3}, {1, 1.5, 1}}, {.columns = 54}).find("9"), std::string::npos)
      << "a dot above the line is left out";
}

TEST(LineChart, HasNoShapeWithoutTwoPoints) {
  EXPECT_EQ(line_chart({}, {}), "");
  EXPECT_EQ(line_chart({{1, 1, 1}}, {}), "");
  EXPECT_EQ(lines_of(line_chart({{1, 1, 1}, {1, 1, 1}}, {.columns = 5})).size(), 14u) << "all equal";
}

}  // namespace
}  // namespace cohort::observe
