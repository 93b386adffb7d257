#include "measure/svg_bars.h"

#include "measure/svg_plot.h"

#include <cmath>
#include <gtest/gtest.h>

namespace cohort::measure {
namespace {

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto place = text.find(part); place != std::string::npos; place = text.find(part, place + 1)) ++found;
  return found;
}

TEST(SvgBars, LengthsAreProportionalWithinAChart) {
  const std::string svg = svg_of_bars("caption", {{"mlp", {{"ours", 25e6}, {"torch_ddp", 100e6}}}});
  EXPECT_EQ(occurrences(svg, "class=\"bar\""), 2u);
  EXPECT_EQ(occurrences(svg, "width=\"135.0\""), 1u) << svg;
  EXPECT_EQ(occurrences(svg, "width=\"540.0\""), 1u) << svg;
  for (const char* const word : {">caption<", ">mlp<", ">ours<", ">torch_ddp<", ">25 ms<", ">100 ms<"}) {
    EXPECT_EQ(occurrences(svg, word), 1u) << word << '\n' << svg;
  }
}

TEST(SvgBars, ChartsHaveTheirOwnScalesAndTheSameColours) {
  const std::string svg = svg_of_bars(
      "", {{"mlp", {{"ours", 1e6}, {"torch_ddp", 2e6}}}, {"gpt", {{"torch_ddp", 8e6}, {"ours", 4e6}}}});
  EXPECT_EQ(occurrences(svg, "width=\"540.0\""), 2u) << svg;
  EXPECT_EQ(occurrences(svg, "width=\"270.0\" height=\"18.0\" fill=\"" + std::string(svg_colour(0))), 2u)
      << svg;
  EXPECT_EQ(occurrences(svg, "width=\"540.0\" height=\"18.0\" fill=\"" + std::string(svg_colour(1))), 2u)
      << svg;
}

TEST(SvgBars, AwkwardInput) {
  EXPECT_EQ(occurrences(svg_of_bars("", {}), "</svg>"), 1u);
  const std::string svg =
      svg_of_bars("<a & b>", {{"none", {}}, {"no times", {{"x", 0}, {"y", -1}, {"z", std::nan("")}}}});
  EXPECT_EQ(occurrences(svg, "class=\"bar\""), 0u);
  EXPECT_EQ(occurrences(svg, "nan"), 0u);
  EXPECT_EQ(occurrences(svg, "&lt;a &amp; b&gt;"), 1u);
}

}  // namespace
}  // namespace cohort::measure
