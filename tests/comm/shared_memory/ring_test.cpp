#include "comm/shared_memory/ring.h"

#include "comm/exchange_member.h"

#include <gtest/gtest.h>
#include <memory>
#include <thread>

namespace cohort::test {
namespace {

using comm::Ring;

TEST(Ring, KeepsBytesAcrossItsEnd) {
  const auto ring = std::make_unique<Ring>();
  std::vector<std::byte> got(Ring::kBytes);
  std::uint64_t round = 0;
  // Lengths that do not divide the ring, so that transfers begin at every position.
  for (const std::size_t length :
       {std::size_t{1}, std::size_t{7}, std::size_t{4097}, Ring::kBytes - 1, Ring::kBytes}) {
    for (int i = 0; i < 40; ++i) {
      const std::vector<std::byte> bytes = pattern(length, ++round);
      ASSERT_EQ(ring->put(bytes), length);
      ASSERT_EQ(ring->available(), length);
      ASSERT_EQ(ring->take(got.data(), got.size()), length);
      ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), got.begin())) << length << ", round " << i;
    }
  }
}

TEST(Ring, TakesNoMoreThanThereIsRoomFor) {
  const auto ring = std::make_unique<Ring>();
  const std::vector<std::byte> bytes = pattern(Ring::kBytes + 100, 1);
  EXPECT_EQ(ring->put(bytes), Ring::kBytes);
  EXPECT_EQ(ring->put(bytes), 0U);
  EXPECT_EQ(ring->take(nullptr, 10), 10U) << "discarded";
  EXPECT_EQ(ring->put(std::span(bytes).subspan(Ring::kBytes)), 10U);
  std::vector<std::byte> got(Ring::kBytes + 1);
  EXPECT_EQ(ring->take(got.data(), got.size()), Ring::kBytes);
  got.pop_back();
  EXPECT_TRUE(std::equal(got.begin(), got.end(), bytes.begin() + 10));
  EXPECT_EQ(ring->take(got.data(), 1), 0U);
  EXPECT_EQ(ring->put({}), 0U);
}

TEST(Ring, OneWritesWhileAnotherReads) {
  const auto ring = std::make_unique<Ring>();
  const std::vector<std::byte> bytes = pattern(3'000'017, 5);
  std::vector<std::byte> got(bytes.size());
  {
    const std::jthread writer([&] {
      for (std::size_t done = 0, step = 1; done < bytes.size(); step = step * 3 % 70'001) {
        const std::size_t put =
            ring->put(std::span(bytes).subspan(done).first(std::min(step, bytes.size() - done)));
        if (put == 0) std::this_thread::yield();
        done += put;
      }
    });
    for (std::size_t done = 0, step = 1; done < got.size(); step = step * 5 % 50'021) {
      const std::size_t taken = ring->take(got.data() + done, std::min(step, got.size() - done));
      if (taken == 0) std::this_thread::yield();
      done += taken;
    }
  }
  EXPECT_TRUE(got == bytes);
}

}  // namespace
}  // namespace cohort::test
