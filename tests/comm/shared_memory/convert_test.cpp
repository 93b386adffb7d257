#include "comm/shared_memory/combine_reference.h"

#include <bit>

namespace cohort::test {
namespace {

// Every 16-bit pattern; and f32 values of every exponent around the range of the 16-bit floats.
TEST(Convert, IsTheSameAsOneByOne) {
  constexpr std::size_t kAll = 65'536;
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    std::vector<std::uint16_t> patterns(kAll);
    for (std::size_t i = 0; i < kAll; ++i) patterns[i] = static_cast<std::uint16_t>(i);
    std::vector<float> widened(kAll);
    comm::convert(ConstNumbers(patterns.data(), kAll, dtype), Numbers(std::span(widened)));
    for (std::size_t i = 0; i < kAll; ++i) {
      const float expected = dtype == DType::kBF16 ? f32_from_bf16(patterns[i]) : f32_from_f16(patterns[i]);
      ASSERT_TRUE(same_float(expected, widened[i])) << name(dtype) << " " << i;
    }
    std::vector<float> values(kAll);
    for (std::size_t i = 0; i < kAll; ++i) {
      values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits_of(3, i)));
    }
    std::vector<std::uint16_t> narrowed(kAll);
    comm::convert(ConstNumbers(std::span<const float>(values)), Numbers(narrowed.data(), kAll, dtype));
    std::vector<float> rounded = values;
    comm::round_to(dtype, Numbers(std::span(rounded)));
    for (std::size_t i = 0; i < kAll; ++i) {
      const std::uint16_t expected =
          dtype == DType::kBF16 ? bf16_from_f32(values[i]) : f16_from_f32(values[i]);
      ASSERT_EQ(narrowed[i], expected) << name(dtype) << " of " << values[i];
      const float wide_again = dtype == DType::kBF16 ? f32_from_bf16(expected) : f32_from_f16(expected);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(rounded[i]), std::bit_cast<std::uint32_t>(wide_again));
    }
  }
}

TEST(Convert, WidensInPlace) {
  for (const std::size_t count : kCounts) {
    std::vector<float> room(count);
    std::byte* const second_half = std::as_writable_bytes(std::span(room)).data() + 2 * count;
    for (std::size_t i = 0; i < count; ++i) {
      write(second_half + 2 * i, bf16_from_f32(static_cast<float>(i % 200)));
    }
    comm::convert(ConstNumbers(second_half, count, DType::kBF16), Numbers(std::span(room)));
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(room[i], static_cast<float>(i % 200)) << count;
  }
}

}  // namespace
}  // namespace cohort::test
