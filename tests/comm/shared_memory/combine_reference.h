#pragma once

#include "base/float16.h"
#include "comm/numbers/combine.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <span>
#include <vector>

// Test data for combine() and convert(), and a reference that computes one element at a time.

namespace cohort::test {

using Bytes = std::vector<std::byte>;

inline constexpr DType kCombinable[] = {DType::kF32, DType::kF64, DType::kBF16, DType::kF16, DType::kI8,
                                        DType::kI16, DType::kI32, DType::kI64,  DType::kU8};
// Lengths around the steps of the loops: 128 bytes, blocks of 1024.
inline constexpr std::size_t kCounts[] = {0,  1,  2,   3,   15,  16,  17,  31,   33,  63,
                                          64, 65, 127, 129, 255, 256, 257, 1023, 1031};

/// Pseudo-random bits of element `index`; every 16-bit pattern occurs.
inline std::uint64_t bits_of(std::size_t input, std::size_t index) {
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

/// Writes element `index` of input `input`: random bits, mixed with special values of the type.
inline void make_element(DType dtype, std::size_t input, std::size_t index, std::byte* at) {
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
    case DType::kI16:
      return write(at, static_cast<std::int16_t>(bits));
    case DType::kI32:
      return write(at, static_cast<std::int32_t>(bits));
    case DType::kI64:
      return write(at, static_cast<std::int64_t>(bits));
    default:
      return write(at, static_cast<std::uint8_t>(bits));
  }
}

inline Bytes make_input(DType dtype, std::size_t input, std::size_t count) {
  Bytes bytes(count * size_bytes(dtype));
  for (std::size_t i = 0; i < count; ++i) make_element(dtype, input, i, bytes.data() + i * size_bytes(dtype));
  return bytes;
}

// The reference: one element at a time, as the contract says.

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
    case ReduceOp::kAnd:
      return static_cast<T>(x & y);
    case ReduceOp::kOr:
      return static_cast<T>(x | y);
    case ReduceOp::kXor:
      return static_cast<T>(x ^ y);
  }
  return a;
}

inline float wide(DType dtype, const std::byte* at) {
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

inline bool element_is_right(ReduceOp op, DType dtype, std::span<const Bytes> inputs, std::size_t index,
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
    case DType::kI8:
      return folded<std::int8_t>(op, inputs, index, integers) == read<std::int8_t>(got);
    case DType::kI16:
      return folded<std::int16_t>(op, inputs, index, integers) == read<std::int16_t>(got);
    case DType::kI32:
      return folded<std::int32_t>(op, inputs, index, integers) == read<std::int32_t>(got);
    case DType::kI64:
      return folded<std::int64_t>(op, inputs, index, integers) == read<std::int64_t>(got);
    default:
      return folded<std::uint8_t>(op, inputs, index, integers) == read<std::uint8_t>(got);
  }
}

inline std::vector<Bytes> make_inputs(DType dtype, std::size_t num_inputs, std::size_t count) {
  std::vector<Bytes> inputs;
  for (std::size_t k = 0; k < num_inputs; ++k) inputs.push_back(make_input(dtype, k, count));
  return inputs;
}

inline std::vector<const std::byte*> pointers_to(const std::vector<Bytes>& inputs) {
  std::vector<const std::byte*> pointers;
  for (const Bytes& input : inputs) pointers.push_back(input.data());
  return pointers;
}

inline ::testing::AssertionResult all_right(ReduceOp op, DType dtype, std::span<const Bytes> inputs,
                                            const Bytes& got) {
  for (std::size_t i = 0; i < got.size() / size_bytes(dtype); ++i) {
    if (!element_is_right(op, dtype, inputs, i, got.data() + i * size_bytes(dtype))) {
      return ::testing::AssertionFailure() << name(op) << " of " << inputs.size() << " × " << name(dtype)
                                           << ": element " << i << " of " << got.size() / size_bytes(dtype);
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace cohort::test
