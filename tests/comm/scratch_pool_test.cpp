#include "comm/message_passing/scratch_pool.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using comm::ScratchPool;

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(ScratchPool, ReusesReturnedBuffers) {
  const auto pool = std::make_shared<ScratchPool>();
  const std::byte* first = nullptr;
  {
    const auto scratch = pool->take(kMiB);
    first = scratch.data();
    EXPECT_EQ(pool->num_kept_bytes(), 0u);
  }
  EXPECT_EQ(pool->num_kept_bytes(), kMiB);
  const auto smaller = pool->take(kMiB / 2);
  EXPECT_EQ(smaller.data(), first);
  EXPECT_EQ(pool->num_kept_bytes(), 0u);
  const auto other = pool->take(kMiB / 2);
  EXPECT_NE(other.data(), first) << "the first buffer is in use";
}

TEST(ScratchPool, DoesNotSpendALongPieceOnAShortCall) {
  const auto pool = std::make_shared<ScratchPool>();
  { const auto scratch = pool->take(16 * kMiB); }
  const auto scratch = pool->take(4096);
  EXPECT_EQ(pool->num_kept_bytes(), 16 * kMiB);
}

TEST(ScratchPool, ShortCallsShareAPiece) {
  const auto pool = std::make_shared<ScratchPool>();
  const std::byte* first = pool->take(8).data();
  EXPECT_EQ(pool->take(8).data(), first);
}

TEST(ScratchPool, KeepsNoMoreThanItsCap) {
  const auto pool = std::make_shared<ScratchPool>();
  { const auto scratch = pool->take(2 * ScratchPool::kKeptBytes); }
  EXPECT_EQ(pool->num_kept_bytes(), 0u);
  {
    std::vector<ScratchPool::Scratch> many;
    for (int i = 0; i < 6; ++i) many.push_back(pool->take(ScratchPool::kKeptBytes / 4));
  }
  EXPECT_EQ(pool->num_kept_bytes(), ScratchPool::kKeptBytes);
}

TEST(ScratchPool, ZeroBytesTakeNoBuffer) {
  const auto pool = std::make_shared<ScratchPool>();
  EXPECT_TRUE(pool->take(0).empty());
}

TEST(ScratchPool, OutlivesTheGroupThatMadeIt) {
  auto pool = std::make_shared<ScratchPool>();
  const std::weak_ptr<ScratchPool> seen = pool;
  {
    const auto scratch = pool->take(kMiB);
    pool.reset();
    EXPECT_FALSE(seen.expired());
    scratch.data()[kMiB - 1] = std::byte{1};
  }
  EXPECT_TRUE(seen.expired());
}

}  // namespace
}  // namespace cohort::test
