#include "layout/batch_plan.h"

#include "layout/sample_order.h"

#include <algorithm>
#include <cohort/error.h>
#include <gtest/gtest.h>
#include <vector>

namespace cohort {
namespace {

struct Case {
  std::uint64_t samples;
  std::uint64_t batch;
  int slots;
  int world;
};

std::vector<Case> many_cases() {
  std::vector<Case> cases;
  for (std::uint64_t samples : {1u, 2u, 7u, 8u, 9u, 31u, 97u, 256u}) {
    for (std::uint64_t batch : {1u, 2u, 3u, 8u, 13u, 97u, 300u}) {
      for (int slots : {1, 2, 3, 4, 8, 11}) {
        for (int world : {1, 2, 3, 4, 5, 8}) cases.push_back({samples, batch, slots, world});
      }
    }
  }
  return cases;
}

// How often each sample is used in one epoch, by all ranks together.
std::vector<int> uses(const Case& c, const BatchPlan& plan, const SampleOrder& order, std::uint64_t epoch) {
  std::vector<int> times(c.samples);
  for (int rank = 0; rank < c.world; ++rank) {
    for (std::uint64_t step = 0; step < plan.steps_per_epoch(); ++step) {
      for (int slot : deal(c.slots, c.world, rank)) {
        const IndexRange range = plan.indices({epoch, step, slot});
        for (std::uint64_t p = range.first; p < range.last; ++p) ++times[order.at(epoch, p)];
      }
    }
  }
  return times;
}

TEST(BatchPlan, EverySampleIsUsedExactlyOnceAnEpochOverAllRanks) {
  for (const Case& c : many_cases()) {
    const BatchPlan plan(c.samples, c.batch, c.slots);
    const SampleOrder order(c.samples, Shuffle::kEveryEpoch, 17);
    ASSERT_EQ(uses(c, plan, order, 2), std::vector<int>(c.samples, 1))
        << c.samples << " samples, batch " << c.batch << ", " << c.slots << " slots, " << c.world << " ranks";
  }
}

TEST(BatchPlan, SlotsOfAStepLieSideBySideAndAreEven) {
  for (const Case& c : many_cases()) {
    const BatchPlan plan(c.samples, c.batch, c.slots);
    std::uint64_t next = 0;
    for (std::uint64_t step = 0; step < plan.steps_per_epoch(); ++step) {
      const std::uint64_t size = plan.batch_size(step);
      const auto slots = static_cast<std::uint64_t>(c.slots);
      for (int slot = 0; slot < c.slots; ++slot) {
        const IndexRange range = plan.indices({0, step, slot});
        ASSERT_EQ(range.first, next);
        EXPECT_GE(range.count(), size / slots);
        EXPECT_LE(range.count(), (size + slots - 1) / slots);
        next = range.last;
      }
    }
    EXPECT_EQ(next, c.samples);
  }
}

TEST(BatchPlan, KeepsASmallerLastBatch) {
  const BatchPlan keeps(10, 4, 3);
  EXPECT_EQ(keeps.steps_per_epoch(), 3u);
  EXPECT_EQ(keeps.batch_size(2), 2u);
  EXPECT_EQ(keeps.indices({0, 2, 0}), (IndexRange{8, 8}));
  EXPECT_EQ(keeps.indices({0, 2, 1}), (IndexRange{8, 9}));
  EXPECT_EQ(keeps.indices({0, 2, 2}), (IndexRange{9, 10}));
  EXPECT_THROW(keeps.batch_size(3), BugError);
  EXPECT_EQ(BatchPlan(8, 4, 3).steps_per_epoch(), 2u);
  EXPECT_EQ(BatchPlan(3, 4, 3).steps_per_epoch(), 1u);
  EXPECT_EQ(BatchPlan(0, 4, 3).steps_per_epoch(), 0u);
}

TEST(BatchPlan, SlotsAreTheSameInEveryEpoch) {
  const BatchPlan plan(100, 12, 5);
  EXPECT_EQ(plan.indices({0, 1, 3}), (IndexRange{12 + 7, 12 + 9}));
  EXPECT_EQ(plan.indices({7, 1, 3}), plan.indices({0, 1, 3}));
}

TEST(BatchPlan, ManySamplesDoNotOverflow) {
  const std::uint64_t many = std::uint64_t{1} << 62;
  const BatchPlan plan(many, many, 1000);
  EXPECT_EQ(plan.indices({0, 0, 999}).last, many);
  EXPECT_EQ(plan.indices({0, 0, 500}).first, many / 2);
}

TEST(Slots, AreDealtOnceContiguouslyAndEvenly) {
  for (int world : {1, 2, 3, 4, 5, 8, 13}) {
    for (int slots : {0, 1, 2, 3, 4, 5, 7, 8, 12, 13, 64, 97}) {
      std::vector<int> all;
      std::size_t most = 0, least = 1000;
      for (int rank = 0; rank < world; ++rank) {
        const std::vector<int> mine = deal(slots, world, rank);
        all.insert(all.end(), mine.begin(), mine.end());
        most = std::max(most, mine.size());
        least = std::min(least, mine.size());
      }
      ASSERT_EQ(all.size(), static_cast<std::size_t>(slots));
      for (int slot = 0; slot < slots; ++slot) EXPECT_EQ(all[static_cast<std::size_t>(slot)], slot);
      EXPECT_LE(most - least, 1u) << slots << " slots, " << world << " ranks";
    }
  }
}

TEST(Slots, ARankOutsideTheWorldIsABug) {
  EXPECT_THROW(deal(4, 2, 2), BugError);
  EXPECT_THROW(deal(4, 2, -1), BugError);
}

}  // namespace
}  // namespace cohort
