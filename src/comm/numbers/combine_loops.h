#pragma once

// Included by combine_generic.cpp and combine_avx2.cpp, each with its own compiler flags: everything here is
// in an unnamed namespace, so that no copy replaces another at link time.

#include "base/formats.h"
#include "comm/numbers/combine_kernels.h"

#include <cstring>
#include <type_traits>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace cohort::comm {
namespace {

template <ReduceOp kOp, class T>
T combined(T a, T b) {
  // min and max are written so that a NaN on either side wins.
  if constexpr (kOp == ReduceOp::kMin) {
    if constexpr (std::is_floating_point_v<T>) {
      return (b < a) || (b != b) ? b : a;
    } else {
      return b < a ? b : a;
    }
  } else if constexpr (kOp == ReduceOp::kMax) {
    if constexpr (std::is_floating_point_v<T>) {
      return (b > a) || (b != b) ? b : a;
    } else {
      return b > a ? b : a;
    }
  } else if constexpr (kOp == ReduceOp::kAnd) {
    return static_cast<T>(a & b);
  } else if constexpr (kOp == ReduceOp::kOr) {
    return static_cast<T>(a | b);
  } else if constexpr (kOp == ReduceOp::kXor) {
    return static_cast<T>(a ^ b);
  } else if constexpr (std::is_integral_v<T>) {
    // Integers wrap.
    using Wide = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    const auto x = static_cast<Wide>(a);
    const auto y = static_cast<Wide>(b);
    return static_cast<T>(kOp == ReduceOp::kProduct ? x * y : x + y);
  } else {
    return kOp == ReduceOp::kProduct ? a * b : a + b;
  }
}

// The last step, once all inputs are combined.
template <ReduceOp kOp, class T>
T finished(T value, T num_inputs) {
  if constexpr (kOp == ReduceOp::kMean) return value / num_inputs;
  return value;
}

// A block of accumulators stays in the L1 cache while the inputs are read.
template <class Format, ReduceOp kOp>
void combine_in_blocks(const CombineArguments& args) {
  using Stored = typename Format::Stored;
  using Value = typename Format::Value;
  constexpr std::size_t kBlock = 1024 / sizeof(Value);
  const auto num_inputs = static_cast<Value>(args.num_inputs);
  alignas(64) Value sum[kBlock];
  alignas(64) Stored out[kBlock];
  for (std::size_t first = 0; first < args.count; first += kBlock) {
    const std::size_t length = args.count - first < kBlock ? args.count - first : kBlock;
    const auto* left = reinterpret_cast<const Stored*>(args.inputs[0]) + first;
    for (std::size_t i = 0; i < length; ++i) sum[i] = Format::load(left[i]);
    for (std::size_t k = 1; k < args.num_inputs; ++k) {
      const auto* next = reinterpret_cast<const Stored*>(args.inputs[k]) + first;
      for (std::size_t i = 0; i < length; ++i) sum[i] = combined<kOp>(sum[i], Format::load(next[i]));
    }
    for (std::size_t i = 0; i < length; ++i) out[i] = Format::store(finished<kOp>(sum[i], num_inputs));
    for (std::size_t t = 0; t < args.num_targets; ++t) {
      std::memcpy(reinterpret_cast<Stored*>(args.targets[t]) + first, out, length * sizeof(Stored));
    }
  }
}

// Non-temporal stores where the instruction set has them: a cached store would first read the memory that it
// overwrites. finish_stream() orders them before later stores.
#if defined(__AVX2__)
constexpr std::size_t kStreamAlignment = 32;
inline void stream(void* to, const void* from, std::size_t size_bytes) {
  for (std::size_t i = 0; i < size_bytes; i += kStreamAlignment) {
    const __m256i value =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(static_cast<const std::byte*>(from) + i));
    _mm256_stream_si256(reinterpret_cast<__m256i*>(static_cast<std::byte*>(to) + i), value);
  }
}
inline void finish_stream() {
  _mm_sfence();
}
#else
constexpr std::size_t kStreamAlignment = 1;
inline void stream(void* to, const void* from, std::size_t size_bytes) {
  std::memcpy(to, from, size_bytes);
}
inline void finish_stream() {}
#endif

// A smaller result may still be in the cache when it is read.
constexpr std::size_t kStreamedBytes = std::size_t{1} << 20;

inline bool may_stream(const CombineArguments& args, std::size_t size_bytes) {
  if (size_bytes < kStreamedBytes) return false;
  for (std::size_t t = 0; t < args.num_targets; ++t) {
    if (reinterpret_cast<std::uintptr_t>(args.targets[t]) % kStreamAlignment != 0) return false;
    for (std::size_t k = 0; k < args.num_inputs; ++k) {
      if (args.inputs[k] == args.targets[t]) return false;
    }
  }
  return true;
}

enum class Store { kCached, kStreaming };

// The commonest case, two ranks: a few cache lines at a time through registers, so that a target may be one
// of the inputs.
template <class Format, ReduceOp kOp, std::size_t kTargets, Store kStore>
void combine_two(const CombineArguments& args) {
  using Stored = typename Format::Stored;
  using Value = typename Format::Value;
  constexpr std::size_t kStep = 128 / sizeof(Stored);
  const auto two = [](Stored x, Stored y) {
    return Format::store(finished<kOp>(combined<kOp>(Format::load(x), Format::load(y)), Value{2}));
  };
  const auto* a = reinterpret_cast<const Stored*>(args.inputs[0]);
  const auto* b = reinterpret_cast<const Stored*>(args.inputs[1]);
  auto* s = reinterpret_cast<Stored*>(args.targets[0]);
  auto* t = reinterpret_cast<Stored*>(args.targets[kTargets - 1]);
  const std::size_t count = args.count;
  std::size_t i = 0;
  for (; i + kStep <= count; i += kStep) {
    Stored x[kStep];
    Stored y[kStep];
    std::memcpy(x, a + i, sizeof x);
    std::memcpy(y, b + i, sizeof y);
    for (std::size_t k = 0; k < kStep; ++k) {
      x[k] = two(x[k], y[k]);
    }
    if constexpr (kStore == Store::kStreaming) {
      stream(s + i, x, sizeof x);
      if constexpr (kTargets == 2) stream(t + i, x, sizeof x);
    } else {
      std::memcpy(s + i, x, sizeof x);
      if constexpr (kTargets == 2) std::memcpy(t + i, x, sizeof x);
    }
  }
  if constexpr (kStore == Store::kStreaming) finish_stream();
  for (; i < count; ++i) {
    const Stored value = two(a[i], b[i]);
    s[i] = value;
    if constexpr (kTargets == 2) t[i] = value;
  }
}

template <class Format, ReduceOp kOp>
void combine_with(const CombineArguments& args) {
  if (args.num_inputs != 2 || args.num_targets > 2) return combine_in_blocks<Format, kOp>(args);
  const bool streams = may_stream(args, args.count * sizeof(typename Format::Stored));
  if (args.num_targets == 1) {
    return streams ? combine_two<Format, kOp, 1, Store::kStreaming>(args)
                   : combine_two<Format, kOp, 1, Store::kCached>(args);
  }
  return streams ? combine_two<Format, kOp, 2, Store::kStreaming>(args)
                 : combine_two<Format, kOp, 2, Store::kCached>(args);
}

template <class Format>
CombineKernel bits_kernel_for(ReduceOp op) {
  if constexpr (std::is_integral_v<typename Format::Value>) {
    if (op == ReduceOp::kAnd) return combine_with<Format, ReduceOp::kAnd>;
    if (op == ReduceOp::kOr) return combine_with<Format, ReduceOp::kOr>;
    return combine_with<Format, ReduceOp::kXor>;
  }
  return nullptr;
}

template <class Format>
CombineKernel kernel_for(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return combine_with<Format, ReduceOp::kSum>;
    case ReduceOp::kMin:
      return combine_with<Format, ReduceOp::kMin>;
    case ReduceOp::kMax:
      return combine_with<Format, ReduceOp::kMax>;
    case ReduceOp::kProduct:
      return combine_with<Format, ReduceOp::kProduct>;
    case ReduceOp::kMean:
      if constexpr (std::is_integral_v<typename Format::Value>) return nullptr;
      return combine_with<Format, ReduceOp::kMean>;
    case ReduceOp::kAnd:
    case ReduceOp::kOr:
    case ReduceOp::kXor:
      return bits_kernel_for<Format>(op);
  }
  return nullptr;
}

// NOLINTNEXTLINE(misc-definitions-in-headers): one copy for each instruction set is the point
CombineKernel kernel_for(ReduceOp op, DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return kernel_for<Plain<float>>(op);
    case DType::kF64:
      return kernel_for<Plain<double>>(op);
    case DType::kBF16:
      return kernel_for<BFloat16>(op);
    case DType::kF16:
      return kernel_for<Float16>(op);
    case DType::kI32:
      return kernel_for<Plain<std::int32_t>>(op);
    case DType::kI64:
      return kernel_for<Plain<std::int64_t>>(op);
    case DType::kU8:
      return kernel_for<Plain<std::uint8_t>>(op);
    case DType::kI8:
      return kernel_for<Plain<std::int8_t>>(op);
    case DType::kI16:
      return kernel_for<Plain<std::int16_t>>(op);
    case DType::kBool:
      return op == ReduceOp::kMean ? nullptr : kernel_for<Plain<std::uint8_t>>(truth_op(op));
  }
  return nullptr;
}

// A block at a time through registers: a block is read completely before it is written.
template <class From, class To, class One>
void convert_with(const std::byte* from, std::byte* to, std::size_t count, One one) {
  constexpr std::size_t kBlock = 32;
  std::size_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    From in[kBlock];
    To out[kBlock];
    std::memcpy(in, from + i * sizeof(From), sizeof in);
    for (std::size_t k = 0; k < kBlock; ++k) out[k] = one(in[k]);
    std::memcpy(to + i * sizeof(To), out, sizeof out);
  }
  for (; i < count; ++i) {
    From in;
    std::memcpy(&in, from + i * sizeof in, sizeof in);
    const To out = one(in);
    std::memcpy(to + i * sizeof out, &out, sizeof out);
  }
}

template <class Format>
void widen_each(const std::byte* from, std::byte* to, std::size_t count) {
  convert_with<std::uint16_t, float>(from, to, count, [](std::uint16_t bits) { return Format::load(bits); });
}
template <class Format>
void narrow_each(const std::byte* from, std::byte* to, std::size_t count) {
  convert_with<float, std::uint16_t>(from, to, count, [](float value) { return Format::store(value); });
}
template <class Format>
void round_each(const std::byte* from, std::byte* to, std::size_t count) {
  convert_with<float, float>(from, to, count, [](float value) { return Format::load(Format::store(value)); });
}

// NOLINTNEXTLINE(misc-definitions-in-headers): one copy for each instruction set is the point
ConvertKernels converters_for(DType dtype) {
  if (dtype == DType::kBF16) return {widen_each<BFloat16>, narrow_each<BFloat16>, round_each<BFloat16>};
  if (dtype == DType::kF16) return {widen_each<Float16>, narrow_each<Float16>, round_each<Float16>};
  return {};
}

}  // namespace
}  // namespace cohort::comm
