#include "measure/bench_rows.h"

#include <gtest/gtest.h>

namespace cohort::measure {
namespace {

const ContenderName kArena{.group = "cohort", .kind = "arena"};
const ContenderName kCopies{.group = "memcpy", .kind = "memcpy"};
const ContenderName kPeer{.group = "gloo", .kind = "gloo"};

CellTimes times(const ContenderName& contender, double ns) {
  return {.contender = contender, .summary = summarize({ns})};
}

CellResult result(std::uint64_t bytes, double arena, double copies, double peer) {
  return {.cell = {.operation = BenchOperation::kAllReduce, .bytes = bytes},
          .times = {times(kArena, arena), times(kCopies, copies), times(kPeer, peer)}};
}

TEST(BenchRows, ARatioIsThePeersTimeByOurs) {
  BenchReport report;
  add_results(report, {result(4000, 100, 50, 2500)}, {.ours = {kArena}, .peers = {kPeer, kCopies}}, 4);
  ASSERT_EQ(report.rows.size(), 1u);
  const BenchRow& row = report.rows.front();
  EXPECT_EQ(row.kind, "arena");
  EXPECT_EQ(row.ranks, 4);
  EXPECT_EQ(row.against.at("gloo").ratio, 25);
  EXPECT_EQ(row.against.at("memcpy").ratio, 0.5);
  EXPECT_EQ(row.algorithm_gbps, 40);
  EXPECT_EQ(row.bus_gbps, 60);
  EXPECT_FALSE(row.predicted_ns);
}

TEST(BenchRows, APredictionIsTheSmallestPlusTheCopying) {
  BenchReport report;
  add_results(report, {result(4, 100, 50, 1), result(8000, 900, 700, 1)},
              {.ours = {kArena}, .peers = {kCopies}}, 2);
  EXPECT_FALSE(report.rows[0].predicted_ns);
  EXPECT_EQ(report.rows[1].predicted_ns, 800);
  add_results(report, {result(4, 1, 50, 1), result(8000, 900, 700, 1)},
              {.ours = {kArena}, .peers = {kCopies}}, 3);
  EXPECT_EQ(report.rows[1].predicted_ns, 800) << "the smallest of another number of ranks does not count";
  EXPECT_EQ(report.rows[3].predicted_ns, 701);
}

TEST(BenchRows, WhatIsMissingIsToldAndNotARow) {
  CellResult cell = result(4, 100, 50, 1);
  cell.times[2].summary.reset();
  cell.times[2].unsupported = "no such thing";
  BenchReport report;
  add_results(report, {cell}, {.ours = {kArena, kPeer}, .peers = {kPeer}}, 2);
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_TRUE(report.rows.front().against.empty());
  ASSERT_EQ(report.gaps.size(), 1u);
  EXPECT_EQ(report.gaps.front().contender, "gloo");
  EXPECT_EQ(report.gaps.front().reason, "no such thing");
}

}  // namespace
}  // namespace cohort::measure
