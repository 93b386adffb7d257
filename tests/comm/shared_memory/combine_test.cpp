#include "comm/combine.h"

#include "base/float16.h"
#include "comm/combine_kernels.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace cohort::test {
namespace {

using comm::combine;
using comm::CombineKernel;
using Bytes = std::vector<std::byte>;

constexpr DType kCombinable[] = {DType::kF32, DType::kF64, DType::kBF16, DType::kF16,
                                 DType::kI32, DType::kI64, DType::kU8};
// Around the steps of the loops: 128 bytes, blocks of 1024.
constexpr std::size_t kCounts[] = {0,  1,  2,   3,   15,  16,  17,  31,   33,  63,
                                   64, 65, 127, 129, 255, 256, 257, 1023, 1031};

/// What the bits of one input are, by position: every 16-bit pattern comes by, and the borders of each type.
std::uint64_t bits_of(std::size_t input, std::size_t index) {
  std::uint64_t x = (index + 1) * 0x9e3779b97f4a7c15u + input * 0xbf58476d1ce4e5b9u;
  x ^= x >> 31;
  x *= 0x94d049bb133111ebu;
  return x ^ (x >> 29);
}

template <class T>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
void write(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

template <class T>
T special_float(std::size_t which, T otherwise) {
  using Limits = std::numeric_limits<T>;
  constexpr T kSpecial[] = {
      Limits::quiet_NaN(),  Limits::infinity(),    -Limits::infinity(), T(0),         -T(0),
      Limits::denorm_min(), -Limits::denorm_min(), Limits::max(),       Limits::min()};
  return which < std::size(kSpecial) ? kSpecial[which] : otherwise;
}

/// Element `index` of input `input`: random bits, borders strewn in.
void make_element(DType dtype, std::size_t input, std::size_t index, std::byte* at) {
  const std::uint64_t bits = bits_of(input, index);
  const std::size_t which = bits >> 8 & 31;
  const auto plain = static_cast<double>(static_cast<std::int32_t>(bits >> 32)) / 65536.0;
  switch (dtype) {
    case DType::kF32:
      return write(at, special_float(which, static_cast<float>(plain)));
    case DType::kF64:
      return write(at, special_float(which, plain));
    case DType::kBF16:
    case DType::kF16:
      return write(at, static_cast<std::uint16_t>(bits));
    case DType::kI32:
      return write(at, static_cast<std::int32_t>(bits));
    case DType::kI64:
      return write(at, static_cast<std::int64_t>(bits));
    default:
      return write(at, static_cast<std::uint8_t>(bits));
  }
}

Bytes make_input(DType dtype, std::size_t input, std::size_t count) {
  Bytes bytes(count * size_bytes(dtype));
  for (std::size_t i = 0; i < count; ++i) make_element(dtype, input, i, bytes.data() + i * size_bytes(dtype));
  return bytes;
}

// The plain reference: one element at a time, in words of the contract.

template <class T>
T plain_float(ReduceOp op, T a, T b) {
  if (op == ReduceOp::kSum || op == ReduceOp::kMean) return a + b;
  if (op == ReduceOp::kProduct) return a * b;
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  return op == ReduceOp::kMin ? (b < a ? b : a) : (b > a ? b : a);
}

template <class T>
T plain_integer(ReduceOp op, T a, T b) {
  const auto x = static_cast<std::uint64_t>(a);
  const auto y = static_cast<std::uint64_t>(b);
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kMean:
      return static_cast<T>(x + y);
    case ReduceOp::kProduct:
      return static_cast<T>(x * y);
    case ReduceOp::kMin:
      return std::min(a, b);
    case ReduceOp::kMax:
      return std::max(a, b);
  }
  return a;
}

float wide(DType dtype, const std::byte* at) {
  const auto bits = read<std::uint16_t>(at);
  return dtype == DType::kBF16 ? f32_from_bf16(bits) : f32_from_f16(bits);
}

template <class T>
bool same_float(T expected, T got) {
  return (std::isnan(expected) && std::isnan(got)) || std::memcmp(&expected, &got, sizeof expected) == 0;
}

template <class T>
T finished(ReduceOp op, T value, std::size_t num_inputs) {
  return op == ReduceOp::kMean ? static_cast<T>(value / static_cast<T>(num_inputs)) : value;
}

template <class T, class Fold>
T folded(ReduceOp op, std::span<const Bytes> inputs, std::size_t index, Fold fold) {
  T value = read<T>(inputs[0].data() + index * sizeof(T));
  for (std::size_t k = 1; k < inputs.size(); ++k)
    value = fold(value, read<T>(inputs[k].data() + index * sizeof(T)));
  return finished(op, value, inputs.size());
}

bool element_is_right(ReduceOp op, DType dtype, std::span<const Bytes> inputs, std::size_t index,
                      const std::byte* got) {
  const auto floats = [op](auto a, auto b) { return plain_float(op, a, b); };
  const auto integers = [op](auto a, auto b) { return plain_integer(op, a, b); };
  switch (dtype) {
    case DType::kF32:
      return same_float(folded<float>(op, inputs, index, floats), read<float>(got));
    case DType::kF64:
      return same_float(folded<double>(op, inputs, index, floats), read<double>(got));
    case DType::kBF16:
    case DType::kF16: {
      float value = wide(dtype, inputs[0].data() + index * 2);
      for (std::size_t k = 1; k < inputs.size(); ++k)
        value = plain_float(op, value, wide(dtype, inputs[k].data() + index * 2));
      value = finished(op, value, inputs.size());
      const std::uint16_t expected = dtype == DType::kBF16 ? bf16_from_f32(value) : f16_from_f32(value);
      if (std::isnan(value)) return std::isnan(wide(dtype, got));
      return expected == read<std::uint16_t>(got);
    }
    case DType::kI32:
      return folded<std::int32_t>(op, inputs, index, integers) == read<std::int32_t>(got);
    case DType::kI64:
      return folded<std::int64_t>(op, inputs, index, integers) == read<std::int64_t>(got);
    default:
      return folded<std::uint8_t>(op, inputs, index, integers) == read<std::uint8_t>(got);
  }
}

std::vector<Bytes> make_inputs(DType dtype, std::size_t num_inputs, std::size_t count) {
  std::vector<Bytes> inputs;
  for (std::size_t k = 0; k < num_inputs; ++k) inputs.push_back(make_input(dtype, k, count));
  return inputs;
}

std::vector<const std::byte*> pointers_to(const std::vector<Bytes>& inputs) {
  std::vector<const std::byte*> pointers;
  for (const Bytes& input : inputs) pointers.push_back(input.data());
  return pointers;
}

::testing::AssertionResult all_right(ReduceOp op, DType dtype, std::span<const Bytes> inputs,
                                     const Bytes& got) {
  for (std::size_t i = 0; i < got.size() / size_bytes(dtype); ++i) {
    if (!element_is_right(op, dtype, inputs, i, got.data() + i * size_bytes(dtype))) {
      return ::testing::AssertionFailure() << name(op) << " of " << inputs.size() << " × " << name(dtype)
                                           << ": element " << i << " of " << got.size() / size_bytes(dtype);
    }
  }
  return ::testing::AssertionSuccess();
}

template <class Body>
void for_all(Body body) {
  for (const DType dtype : kCombinable) {
    for (const ReduceOp op : kAllReduceOps) {
      if (!comm::is_combinable(op, dtype)) continue;
      for (std::size_t num_inputs = 1; num_inputs <= 5; ++num_inputs) body(dtype, op, num_inputs);
    }
  }
}

TEST(Combine, EqualsThePlainReferenceInOneAndSeveralTargets) {
  for_all([](DType dtype, ReduceOp op, std::size_t num_inputs) {
    for (const std::size_t count : kCounts) {
      const std::vector<Bytes> inputs = make_inputs(dtype, num_inputs, count);
      for (const std::size_t num_targets : std::initializer_list<std::size_t>{1, 2, 3}) {
        std::vector<Bytes> targets(num_targets, Bytes(count * size_bytes(dtype), std::byte{0xee}));
        std::vector<std::byte*> to;
        for (Bytes& target : targets) to.push_back(target.data());
        combine(op, dtype, pointers_to(inputs), to, count);
        for (const Bytes& target : targets) ASSERT_TRUE(all_right(op, dtype, inputs, target));
      }
    }
  });
}

TEST(Combine, ATargetMayBeAnyOfTheInputs) {
  for_all([](DType dtype, ReduceOp op, std::size_t num_inputs) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{130}, std::size_t{1031}}) {
      const std::vector<Bytes> originals = make_inputs(dtype, num_inputs, count);
      for (std::size_t target = 0; target < num_inputs; ++target) {
        std::vector<Bytes> inputs = originals;
        Bytes other(count * size_bytes(dtype));
        std::byte* const to[] = {inputs[target].data(), other.data()};
        combine(op, dtype, pointers_to(inputs), to, count);
        ASSERT_TRUE(all_right(op, dtype, originals, inputs[target]));
        ASSERT_TRUE(all_right(op, dtype, originals, other));
        for (std::size_t k = 0; k < num_inputs; ++k) {
          if (k != target) {
            ASSERT_EQ(inputs[k], originals[k]);
          }
        }
      }
      // All of them at once: what every rank of an all_reduce in place gets.
      std::vector<Bytes> inputs = originals;
      std::vector<std::byte*> all;
      for (Bytes& input : inputs) all.push_back(input.data());
      combine(op, dtype, pointers_to(inputs), all, count);
      for (const Bytes& input : inputs) ASSERT_TRUE(all_right(op, dtype, originals, input));
    }
  });
}

TEST(Combine, NothingBehindTheLastElementIsTouched) {
  for (const DType dtype : kCombinable) {
    for (const std::size_t count : kCounts) {
      const std::vector<Bytes> inputs = make_inputs(dtype, 2, count);
      Bytes target(count * size_bytes(dtype) + 64, std::byte{0x5a});
      std::byte* const to[] = {target.data()};
      combine(ReduceOp::kSum, dtype, pointers_to(inputs), to, count);
      for (std::size_t i = count * size_bytes(dtype); i < target.size(); ++i)
        ASSERT_EQ(target[i], std::byte{0x5a});
    }
  }
}

// Large results go past the cache, where nothing forbids it: an address that does not fit does.
TEST(Combine, LargeResultsAreRightWhereverTheyGo) {
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF64}) {
    const std::size_t count = (std::size_t{1} << 20) / size_bytes(dtype) + 37;
    const std::vector<Bytes> inputs = make_inputs(dtype, 2, count);
    const std::size_t size = count * size_bytes(dtype);
    for (const unsigned shift : {0u, 32u, 8u}) {
      for (const std::size_t num_targets : {std::size_t{1}, std::size_t{2}}) {
        std::vector<Bytes> rooms(num_targets, Bytes(size + 192, std::byte{0x5a}));
        std::vector<std::byte*> to;
        for (Bytes& room : rooms) {
          const std::size_t to_line = 64 - reinterpret_cast<std::uintptr_t>(room.data()) % 64;
          to.push_back(room.data() + to_line + shift);
        }
        combine(ReduceOp::kMean, dtype, pointers_to(inputs), to, count);
        for (std::size_t t = 0; t < num_targets; ++t) {
          ASSERT_TRUE(all_right(ReduceOp::kMean, dtype, inputs, Bytes(to[t], to[t] + size)));
          for (std::byte* behind = to[t] + size; behind < rooms[t].data() + rooms[t].size(); ++behind)
            ASSERT_EQ(*behind, std::byte{0x5a});
        }
      }
    }
  }
}

// Every pattern of 16 bits, alone and against numbers of other sizes, infinities and NaN.
TEST(Combine, EverySixteenBitNumberIsReadAndRoundedAsItShouldBe) {
  constexpr std::size_t kAll = 1 << 16;
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    std::vector<Bytes> inputs(2, Bytes(kAll * 2));
    for (std::size_t i = 0; i < kAll; ++i) write(inputs[0].data() + i * 2, static_cast<std::uint16_t>(i));
    const std::uint16_t others[] = {0x0000, 0x8000, 0x0001, 0x03ff, 0x0400, 0x3c00, 0x3f80, 0x3c01,
                                    0xbc00, 0x7bff, 0x7c00, 0xfc00, 0x7f80, 0x7e00, 0x7fff, 0x1234};
    for (const std::uint16_t other : others) {
      for (std::size_t i = 0; i < kAll; ++i) write(inputs[1].data() + i * 2, other);
      for (const ReduceOp op : kAllReduceOps) {
        Bytes result(kAll * 2);
        std::byte* const to[] = {result.data()};
        combine(op, dtype, pointers_to(inputs), to, kAll);
        ASSERT_TRUE(all_right(op, dtype, inputs, result)) << "with " << other;
      }
    }
    const std::span<const Bytes> alone = std::span(inputs).first(1);
    Bytes result(kAll * 2);
    const std::byte* const from[] = {inputs[0].data()};
    std::byte* const to[] = {result.data()};
    combine(ReduceOp::kSum, dtype, from, to, kAll);
    EXPECT_TRUE(all_right(ReduceOp::kSum, dtype, alone, result));
  }
}

TEST(Combine, AMinOrMaxWithANaNIsNaNWhereverItStands) {
  for (const ReduceOp op : {ReduceOp::kMin, ReduceOp::kMax}) {
    for (std::size_t place = 0; place < 4; ++place) {
      std::vector<std::vector<float>> inputs(4, std::vector<float>(37, 1.5F));
      inputs[place].assign(37, std::numeric_limits<float>::quiet_NaN());
      std::vector<const std::byte*> from;
      for (const auto& input : inputs) from.push_back(std::as_bytes(std::span(input)).data());
      std::vector<float> result(37);
      std::byte* const to[] = {std::as_writable_bytes(std::span(result)).data()};
      combine(op, DType::kF32, from, to, 37);
      for (const float value : result) EXPECT_TRUE(std::isnan(value));
    }
  }
}

/// Equal bits, or both NaN: which of two NaN comes out of a sum is the compiler's choice.
bool same_element(DType dtype, const std::byte* a, const std::byte* b) {
  switch (dtype) {
    case DType::kF32:
      return same_float(read<float>(a), read<float>(b));
    case DType::kF64:
      return same_float(read<double>(a), read<double>(b));
    case DType::kBF16:
    case DType::kF16:
      return same_float(wide(dtype, a), wide(dtype, b));
    default:
      return std::memcmp(a, b, size_bytes(dtype)) == 0;
  }
}

TEST(Combine, EveryInstructionSetGivesTheSameBits) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "this machine has no AVX2";
  for_all([](DType dtype, ReduceOp op, std::size_t num_inputs) {
    for (const std::size_t count : kCounts) {
      const std::vector<Bytes> inputs = make_inputs(dtype, num_inputs, count);
      const std::vector<const std::byte*> from = pointers_to(inputs);
      Bytes results[2];
      const CombineKernel kernels[] = {comm::combine_kernel_generic(op, dtype),
                                       comm::combine_kernel_avx2(op, dtype)};
      for (std::size_t k = 0; k < 2; ++k) {
        results[k].resize(count * size_bytes(dtype));
        std::byte* const to[] = {results[k].data()};
        kernels[k]({from.data(), from.size(), to, 1, count});
      }
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = i * size_bytes(dtype);
        ASSERT_TRUE(same_element(dtype, results[0].data() + at, results[1].data() + at))
            << name(op) << " of " << num_inputs << " × " << count << " " << name(dtype) << ", element " << i;
      }
    }
  });
#endif
}

// Every 16-bit pattern; f32 of every exponent around what the 16-bit floats can hold.
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

TEST(Combine, OnlyTypesThatMakeSenseAreCombinable) {
  for (const DType dtype : kAllDTypes) {
    const bool expected =
        std::find(std::begin(kCombinable), std::end(kCombinable), dtype) != std::end(kCombinable);
    EXPECT_EQ(comm::is_combinable(ReduceOp::kSum, dtype), expected) << name(dtype);
    const bool is_float =
        dtype == DType::kF32 || dtype == DType::kF64 || dtype == DType::kBF16 || dtype == DType::kF16;
    EXPECT_EQ(comm::is_combinable(ReduceOp::kMean, dtype), is_float) << name(dtype);
  }
}

}  // namespace
}  // namespace cohort::test
