#include "layout/buckets.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

namespace cohort {
namespace {

std::vector<std::size_t> in_order(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

TEST(Buckets, HoldEveryElementOfEveryParameterOnce) {
  const std::vector<std::size_t> sizes{0, 1, 15, 16, 17, 100, 1000, 4097, 3, 50000};
  for (const int world : {1, 2, 3, 4, 8}) {
    for (const std::size_t elements : {1u, 64u, 1024u, 100000u}) {
      std::vector<std::size_t> order = in_order(sizes.size());
      std::reverse(order.begin(), order.end());
      const BucketLayout layout = layout_for(sizes, order, world, elements);
      std::vector<std::size_t> held(sizes.size(), 0);
      std::size_t next = 0;
      for (const Bucket& bucket : layout.buckets) {
        EXPECT_EQ(bucket.first, next);
        EXPECT_EQ(bucket.count % (16 * static_cast<std::size_t>(world)), 0u);
        next += bucket.count;
        std::size_t end = bucket.first;
        for (const BucketEntry& entry : bucket.entries) {
          EXPECT_EQ(entry.first % 16, 0u);
          EXPECT_GE(entry.first, end);
          EXPECT_EQ(entry.from, held[entry.parameter]);
          held[entry.parameter] += entry.count;
          end = entry.first + entry.count;
        }
        EXPECT_LE(end, bucket.first + bucket.count);
      }
      EXPECT_EQ(layout.count, next);
      EXPECT_EQ(held, sizes);
    }
  }
}

TEST(Buckets, OfOnePartAreAsWithoutParts) {
  const std::vector<std::size_t> sizes{0, 1, 15, 16, 17, 100, 1000, 4097, 3, 50000};
  const BucketLayout plain = layout_for(sizes, in_order(sizes.size()), 2, 1024);
  const BucketLayout parts =
      layout_by_part(sizes, in_order(sizes.size()), std::vector<int>(sizes.size(), 0), 2, 1024);
  ASSERT_EQ(parts.buckets.size(), plain.buckets.size());
  EXPECT_EQ(parts.count, plain.count);
  for (std::size_t b = 0; b < plain.buckets.size(); ++b) {
    EXPECT_EQ(parts.buckets[b].first, plain.buckets[b].first);
    EXPECT_EQ(parts.buckets[b].count, plain.buckets[b].count);
    ASSERT_EQ(parts.buckets[b].entries.size(), plain.buckets[b].entries.size());
    for (std::size_t e = 0; e < plain.buckets[b].entries.size(); ++e) {
      EXPECT_EQ(parts.buckets[b].entries[e].first, plain.buckets[b].entries[e].first);
      EXPECT_EQ(parts.buckets[b].entries[e].parameter, plain.buckets[b].entries[e].parameter);
    }
  }
}

TEST(Buckets, HoldParametersOfOnePartInTheOrderOfBackward) {
  const std::vector<std::size_t> sizes{100, 200, 5000, 40, 0, 300, 2500};
  const std::vector<std::size_t> order{6, 5, 4, 3, 2, 1, 0};
  const std::vector<int> part_of{0, 1, 0, 1, 0, 1, 1};
  for (const int world : {1, 2, 3}) {
    const BucketLayout layout = layout_by_part(sizes, order, part_of, world, 512);
    std::vector<std::size_t> held(sizes.size(), 0), seen(sizes.size(), 0), next(sizes.size(), 0);
    std::size_t first = 0, last_turn = 0;
    for (const Bucket& bucket : layout.buckets) {
      EXPECT_EQ(bucket.first, first);
      first += bucket.count;
      for (const BucketEntry& entry : bucket.entries) {
        EXPECT_EQ(part_of[entry.parameter], bucket.part);
        EXPECT_GE(entry.first, bucket.first);
        EXPECT_LE(entry.first + entry.count, bucket.first + bucket.count);
        EXPECT_EQ(entry.from, held[entry.parameter]);
        if (seen[entry.parameter]++ > 0) EXPECT_EQ(entry.first, next[entry.parameter]);
        held[entry.parameter] += entry.count;
        next[entry.parameter] = entry.first + entry.count;
      }
      const std::size_t turn = sizes.size() - 1 - bucket.entries.back().parameter;
      EXPECT_GE(turn, last_turn);
      last_turn = turn;
    }
    EXPECT_EQ(layout.count, first);
    EXPECT_EQ(held, sizes);
  }
}

TEST(Buckets, PiecesOfALargeParameterFollowEachOtherWithoutAGap) {
  const std::vector<std::size_t> sizes{10, 100000, 10};
  const BucketLayout layout = layout_for(sizes, in_order(3), 3, 1000);
  std::size_t next = 0;
  int pieces = 0;
  for (const Bucket& bucket : layout.buckets) {
    for (const BucketEntry& entry : bucket.entries) {
      if (entry.parameter != 1) continue;
      EXPECT_EQ(bucket.entries.size(), 1u);
      if (pieces++ > 0) EXPECT_EQ(entry.first, next);
      next = entry.first + entry.count;
    }
  }
  EXPECT_GT(pieces, 90);
}

TEST(Buckets, SlicesCoverABucket) {
  const std::vector<std::size_t> sizes{777};
  for (const int world : {1, 2, 3, 5}) {
    const BucketLayout layout = layout_for(sizes, in_order(1), world, 1 << 20);
    ASSERT_EQ(layout.buckets.size(), 1u);
    std::size_t next = 0;
    for (int rank = 0; rank < world; ++rank) {
      const BucketSlice slice = slice_of(layout.buckets[0], rank, world);
      EXPECT_EQ(slice.first, next);
      next += slice.count;
    }
    EXPECT_EQ(next, layout.count);
  }
}

TEST(Buckets, TheFirstIsSmall) {
  const std::vector<std::size_t> sizes(40, 100);
  const BucketLayout layout = layout_for(sizes, in_order(40), 1, 1000);
  EXPECT_LT(layout.buckets[0].entries.size(), layout.buckets[1].entries.size());
}

}  // namespace
}  // namespace cohort
