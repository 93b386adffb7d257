#include "checkpoint/retention.h"

#include <cmath>
#include <gtest/gtest.h>

namespace cohort::checkpoint {
namespace {

using Names = std::vector<std::string>;

// The snapshot of a step has the name of the step.
Kept full(std::int64_t step, std::optional<double> loss = {}) {
  return {.name = std::to_string(step), .step = step, .loss = loss};
}
Kept difference(std::int64_t step, std::int64_t base, std::optional<double> loss = {}) {
  return {.name = std::to_string(step), .step = step, .loss = loss, .base = std::to_string(base)};
}

Names gone(const std::vector<Kept>& snapshots, const Retention& retention) {
  return expendable(snapshots, retention);
}

const std::vector<Kept> kFive{full(1, 3.0), full(2, 1.0), full(3, 2.0), full(4), full(5, 4.0)};

TEST(Retaining, KeepsTheNewest) {
  EXPECT_EQ(gone({}, {}), Names());
  EXPECT_EQ(gone(kFive, {.last = 5, .best = 0}), Names());
  EXPECT_EQ(gone(kFive, {.last = 9, .best = 0}), Names());
  EXPECT_EQ(gone(kFive, {.last = 2, .best = 0}), (Names{"3", "2", "1"}));
  EXPECT_EQ(gone({kFive.rbegin(), kFive.rend()}, {.last = 2, .best = 0}), (Names{"3", "2", "1"}));
}

TEST(Retaining, KeepsAtLeastOne) {
  for (const int last : {1, 0, -1})
    EXPECT_EQ(gone(kFive, {.last = last, .best = 0}), (Names{"4", "3", "2", "1"}));
}

TEST(Retaining, KeepsTheBest) {
  EXPECT_EQ(gone(kFive, {.last = 1, .best = 1}), (Names{"4", "3", "1"}));
  EXPECT_EQ(gone(kFive, {.last = 1, .best = 2}), (Names{"4", "1"}));
  EXPECT_EQ(gone(kFive, {.last = 1, .best = 9}), (Names{"4"}));
  EXPECT_EQ(gone(kFive, {.last = 1, .best = -1}), (Names{"4", "3", "2", "1"}));
  EXPECT_EQ(gone({full(1, 2.0), full(2, 2.0), full(3)}, {.last = 1, .best = 1}), (Names{"2"}));
  EXPECT_EQ(gone({full(1, std::nan("")), full(2, 7.0), full(3)}, {.last = 1, .best = 1}), (Names{"1"}));
}

TEST(Retaining, KeepsMultiples) {
  EXPECT_EQ(gone(kFive, {.last = 1, .best = 0, .every = 2}), (Names{"3", "1"}));
  EXPECT_EQ(gone(kFive, {.last = 1, .best = 0, .every = 1}), Names());
  for (const std::int64_t never : {0, -2}) {
    EXPECT_EQ(gone(kFive, {.last = 4, .best = 0, .every = never}), (Names{"1"}));
  }
}

TEST(Retaining, KeepsTheBaseOfADifference) {
  const std::vector<Kept> snapshots{full(1), difference(2, 1, 0.5), difference(3, 1),
                                    full(4), difference(5, 4),      full(6)};
  EXPECT_EQ(gone(snapshots, {.last = 1, .best = 0}), (Names{"5", "4", "3", "2", "1"}));
  EXPECT_EQ(gone(snapshots, {.last = 2, .best = 0}), (Names{"3", "2", "1"}));
  EXPECT_EQ(gone(snapshots, {.last = 1, .best = 1}), (Names{"5", "4", "3"}));
  EXPECT_EQ(gone({difference(3, 2), full(4)}, {.last = 2}), Names());  // its base is gone already
}

}  // namespace
}  // namespace cohort::checkpoint
