#include "checkpoint/compare.h"

#include "checkpoint/made_snapshot.h"
#include "checkpoint/snapshot_folder.h"
#include "storage/memory_file_system.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

namespace cohort::test {
namespace {

using checkpoint::Difference;
using checkpoint::Snapshot;
using checkpoint::SnapshotTensors;

Difference difference(FileSystem& files, const std::string& a, const std::string& b) {
  const auto in_a = value_or_throw(Snapshot::open(files, a, checkpoint::snapshot_name(1)));
  const auto in_b = value_or_throw(Snapshot::open(files, b, checkpoint::snapshot_name(1)));
  const SnapshotTensors of_a(*in_a), of_b(*in_b);
  return value_or_throw(checkpoint::compare(of_a, of_a.all()[0], of_b, of_b.all()[0], [](std::uint64_t) {}));
}

template <class Number>
Difference compared(DType dtype, const std::vector<Number>& a, const std::vector<Number>& b) {
  MemoryFileSystem files;
  value_or_throw(make_snapshot(files, "a", 2, {{"t", dtype, {a.size()}, bytes_of_numbers(a)}}));
  value_or_throw(make_snapshot(files, "b", 3, {{"t", dtype, {b.size()}, bytes_of_numbers(b)}}));
  return difference(files, "a", "b");
}

TEST(Compare, TensorsOfOtherLayouts) {
  const Difference found = compared<float>(DType::kF32, {0, 1, 2, 3, 4, 5, 6}, {0, 1, 2, 7, 4, 2, 6});
  EXPECT_EQ(found.num_elements, 7u);
  EXPECT_EQ(found.num_different, 2u);
  EXPECT_EQ(found.num_nan, 0u);
  EXPECT_EQ(found.max_abs, 4);
  EXPECT_EQ(found.rms, std::sqrt(25.0 / 7));
}

TEST(Compare, ValuesThatAreNotNumbers) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  const Difference found =
      compared<float>(DType::kF32, {nan, nan, 1, 2, infinity}, {-nan, 1, nan, 4, infinity});
  EXPECT_EQ(found.num_different, 3u);
  EXPECT_EQ(found.num_nan, 2u);
  EXPECT_EQ(found.max_abs, 2);
  EXPECT_EQ(compared<float>(DType::kF32, {infinity}, {1}).max_abs, infinity);
}

TEST(Compare, EveryElementType) {
  EXPECT_EQ(compared<double>(DType::kF64, {1}, {3.5}).max_abs, 2.5);
  EXPECT_EQ(compared<std::uint16_t>(DType::kBF16, {0x3f80}, {0x4000}).max_abs, 1);
  EXPECT_EQ(compared<std::uint16_t>(DType::kF16, {0x3c00}, {0x4200}).max_abs, 2);
  EXPECT_EQ(compared<std::int8_t>(DType::kI8, {-100}, {100}).max_abs, 200);
  EXPECT_EQ(compared<std::int16_t>(DType::kI16, {-100}, {200}).max_abs, 300);
  EXPECT_EQ(compared<std::int32_t>(DType::kI32, {-100}, {300}).max_abs, 400);
  EXPECT_EQ(compared<std::int64_t>(DType::kI64, {-100}, {400}).max_abs, 500);
  EXPECT_EQ(compared<std::uint8_t>(DType::kU8, {1}, {255}).max_abs, 254);
  EXPECT_EQ(compared<std::uint8_t>(DType::kBool, {0}, {1}).max_abs, 1);
}

// More elements than a window, so that the state is never in memory as a whole.
TEST(WholeTensors, AreReadAWindowAtATime) {
  constexpr std::size_t kCount = (std::size_t{40} << 20) / sizeof(std::uint32_t) + 1;
  std::vector<std::uint32_t> numbers(kCount);
  for (std::size_t i = 0; i < kCount; ++i) numbers[i] = static_cast<std::uint32_t>(i);
  MemoryFileSystem files;
  value_or_throw(make_snapshot(files, "run", 2, {{"t", DType::kI32, {kCount}, bytes_of_numbers(numbers)}}));
  const auto snapshot = value_or_throw(Snapshot::open(files, "run", checkpoint::snapshot_name(1)));
  const SnapshotTensors tensors(*snapshot);
  std::uint64_t next = 0, windows = 0;
  const Status read =
      tensors.stream(tensors.all()[0], [&](std::uint64_t first, std::span<const std::byte> bytes) {
        EXPECT_EQ(first, next);
        EXPECT_LE(bytes.size(), std::size_t{32} << 20);
        EXPECT_EQ(std::memcmp(bytes.data(), numbers.data() + first, bytes.size()), 0);
        next += bytes.size() / sizeof(std::uint32_t);
        ++windows;
        return Status();
      });
  EXPECT_TRUE(read) << read.error().what();
  EXPECT_EQ(next, kCount);
  EXPECT_EQ(windows, 2u);
}

}  // namespace
}  // namespace cohort::test
