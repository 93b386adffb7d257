#include "comm/numbers/copy.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

namespace cohort::test {
namespace {

constexpr std::byte kGuard{0xa5};
constexpr std::size_t kMargin = 128;

std::vector<std::byte> numbered(std::size_t size_bytes) {
  std::vector<std::byte> bytes(size_bytes);
  for (std::size_t i = 0; i < size_bytes; ++i) {
    bytes[i] = static_cast<std::byte>((i * 0x9e3779b1u) >> 21 & 0xff);
  }
  return bytes;
}

/// Copies `size_bytes` between addresses with these offsets from an aligned boundary, and checks every byte
/// around.
void expect_copy(const std::vector<std::byte>& source, std::size_t from, std::size_t to,
                 std::size_t size_bytes) {
  std::vector<std::byte> target(size_bytes + 3 * kMargin, kGuard);
  std::byte* begin = target.data();
  while (reinterpret_cast<std::uintptr_t>(begin) % 64 != 0) ++begin;
  const std::size_t first = static_cast<std::size_t>(begin - target.data()) + 64 + to;
  for (const auto copy : {comm::copy_bytes, comm::stream_bytes}) {
    std::fill(target.begin(), target.end(), kGuard);
    copy(target.data() + first, source.data() + from, size_bytes);
    for (std::size_t i = 0; i < target.size(); ++i) {
      const bool inside = i >= first && i < first + size_bytes;
      ASSERT_EQ(target[i], inside ? source[from + i - first] : kGuard)
          << size_bytes << " bytes from +" << from << " to +" << to << ", byte " << i;
    }
  }
}

TEST(CopyBytes, WorksAtEveryAlignmentAroundTheStepsOfTheLoop) {
  const std::vector<std::byte> source = numbered(2048);
  for (const std::size_t size_bytes :
       std::initializer_list<std::size_t>{0, 1, 31, 127, 128, 511, 512, 513, 639, 640, 641, 1023, 1025}) {
    for (std::size_t from = 0; from < 34; ++from) {
      for (std::size_t to = 0; to < 34; ++to) expect_copy(source, from, to, size_bytes);
    }
  }
}

TEST(CopyBytes, WorksWhereTheCachesArePassedBy) {
  constexpr std::size_t kStreamed = std::size_t{4} << 20;
  const std::vector<std::byte> source = numbered(kStreamed + 4096);
  for (const std::size_t size_bytes :
       {kStreamed - 1, kStreamed, kStreamed + 1, kStreamed + 127, kStreamed + 129}) {
    expect_copy(source, 0, 0, size_bytes);
    expect_copy(source, 1, 31, size_bytes);
    expect_copy(source, 17, 5, size_bytes);
  }
}

TEST(CopyBytes, ToItselfChangesNothing) {
  std::vector<std::byte> bytes = numbered(5000);
  comm::copy_bytes(bytes.data(), bytes.data(), bytes.size());
  comm::stream_bytes(bytes.data(), bytes.data(), bytes.size());
  EXPECT_EQ(bytes, numbered(5000));
}

}  // namespace
}  // namespace cohort::test
