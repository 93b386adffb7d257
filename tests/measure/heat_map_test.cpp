#include "measure/heat_map.h"

#include <gtest/gtest.h>
#include <limits>

namespace cohort::measure {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto place = text.find(part); place != std::string::npos; place = text.find(part, place + 1)) ++found;
  return found;
}

TEST(HeatMap, TheBestIsColdAndTheWorstIsHot) {
  const auto heats = heats_of({1, 10, 100});
  EXPECT_DOUBLE_EQ(*heats[0], 0);
  EXPECT_DOUBLE_EQ(*heats[1], 0.5);
  EXPECT_DOUBLE_EQ(*heats[2], 1);
}

TEST(HeatMap, SmallDifferencesStayCold) {
  const auto heats = heats_of({100, 110}, 10);
  EXPECT_DOUBLE_EQ(*heats[0], 0);
  EXPECT_LT(*heats[1], 0.05);
}

TEST(HeatMap, WhatIsNotPositiveHasNoHeat) {
  const auto heats = heats_of({0, 5, -1, std::numeric_limits<double>::infinity()});
  EXPECT_FALSE(heats[0]);
  EXPECT_DOUBLE_EQ(*heats[1], 0);
  EXPECT_FALSE(heats[2]);
  EXPECT_FALSE(heats[3]);
  EXPECT_TRUE(heats_of({}).empty());
}

TEST(HeatMap, ColoursGoFromLightToDark) {
  EXPECT_EQ(heat_colour(0), "#ffffcc");
  EXPECT_EQ(heat_colour(0.5), "#fd8d3c");
  EXPECT_EQ(heat_colour(1), "#800026");
  EXPECT_EQ(heat_colour(-3), heat_colour(0));
  EXPECT_EQ(heat_colour(7), heat_colour(1));
}

TEST(HeatMap, ACellForEachPairAndALabelForEachRowAndColumn) {
  const HeatMap map{.title = "bandwidth",
                    .labels = {"a", "<b>"},
                    .rows = {{{.text = ""}, {.text = "1 Gbit/s", .heat = 0}},
                             {{.text = "10 Mbit/s", .heat = 1}, {.text = ""}}}};
  const std::string svg = svg_of(std::vector{map, map});
  EXPECT_EQ(count(svg, "<rect"), 1u + 8u);
  EXPECT_EQ(count(svg, ">1 Gbit/s<"), 2u);
  EXPECT_EQ(count(svg, "&lt;b&gt;"), 4u);
  EXPECT_EQ(count(svg, "fill=\"#800026\""), 2u);
  EXPECT_EQ(count(svg, "</svg>"), 1u);
}

TEST(HeatMap, AwkwardInput) {
  EXPECT_EQ(count(svg_of(std::vector<HeatMap>{}), "</svg>"), 1u);
  EXPECT_EQ(count(svg_of(std::vector<HeatMap>{{.title = "nobody"}}), ">nobody<"), 1u);
}

}  // namespace
}  // namespace cohort::measure
