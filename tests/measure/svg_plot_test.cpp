#include "measure/svg_plot.h"

#include <gtest/gtest.h>

namespace cohort::measure {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto place = text.find(part); place != std::string::npos; place = text.find(part, place + 1)) ++found;
  return found;
}

TEST(SvgPlot, OneLinePerKindWithALegend) {
  const Plot plot{.title = "all_reduce, 2 ranks",
                  .lines = {{.label = "arena", .points = {{4, 200}, {65536, 1700}}},
                            {.label = "peer", .points = {{4, 111000}, {65536, 304000}}}}};
  const std::string svg = svg_of({plot});
  EXPECT_EQ(count(svg, "<polyline"), 2u);
  EXPECT_EQ(count(svg, "<circle"), 4u);
  for (const char* word :
       {">arena<", ">peer<", ">all_reduce, 2 ranks<", ">1 B<", ">64 KiB<", ">100 ns<", ">1 ms<"}) {
    EXPECT_EQ(count(svg, word), 1u) << word << '\n' << svg;
  }
}

TEST(SvgPlot, LogarithmicScales) {
  // Sizes from 1 to 256 are two steps of 16; 16 lies in the middle of 80 and 680.
  const std::string svg =
      svg_of({{.title = "t", .lines = {{.label = "a", .points = {{1, 10}, {16, 100}, {256, 1000}}}}}});
  EXPECT_NE(svg.find("points=\"80.0,404.0 380.0,226.0 680.0,48.0\""), std::string::npos) << svg;
}

TEST(SvgPlot, AwkwardInput) {
  EXPECT_EQ(count(svg_of({}), "</svg>"), 1u);
  const std::string svg = svg_of(
      {{.title = "<a & \"b\">", .lines = {{.label = "x", .points = {{0, 5}, {5, 0}}}, {.label = "y"}}}});
  EXPECT_EQ(count(svg, "<circle"), 0u);
  EXPECT_EQ(count(svg, "nan"), 0u);
  EXPECT_NE(svg.find("&lt;a &amp; &quot;b&quot;&gt;"), std::string::npos);
  EXPECT_EQ(count(svg_of({{.title = "one", .lines = {{.label = "x", .points = {{4, 4}}}}}}), "nan"), 0u);
}

}  // namespace
}  // namespace cohort::measure
