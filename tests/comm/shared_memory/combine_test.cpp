#include "comm/numbers/combine.h"

#include "comm/numbers/combine_kernels.h"
#include "comm/shared_memory/combine_reference.h"

namespace cohort::test {
namespace {

using comm::combine;
using comm::CombineKernel;
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
      // Every input is an output, too, as in an in-place all_reduce.
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

// Large results are written with streaming stores if their address is aligned for that.
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

// Every 16-bit pattern, alone and combined with numbers of other magnitudes, infinities and NaN.
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
        if (!comm::is_combinable(op, dtype)) continue;
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
    for (std::size_t index = 0; index < 4; ++index) {
      std::vector<std::vector<float>> inputs(4, std::vector<float>(37, 1.5F));
      inputs[index].assign(37, std::numeric_limits<float>::quiet_NaN());
      std::vector<const std::byte*> from;
      for (const auto& input : inputs) from.push_back(std::as_bytes(std::span(input)).data());
      std::vector<float> result(37);
      std::byte* const to[] = {std::as_writable_bytes(std::span(result)).data()};
      combine(op, DType::kF32, from, to, 37);
      for (const float value : result) EXPECT_TRUE(std::isnan(value));
    }
  }
}

/// Equal bits, or both NaN: the compiler chooses which of two NaN payloads comes out of a sum.
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

TEST(Combine, OnlyTypesThatMakeSenseAreCombinable) {
  for (const DType dtype : kAllDTypes) {
    const bool is_float =
        dtype == DType::kF32 || dtype == DType::kF64 || dtype == DType::kBF16 || dtype == DType::kF16;
    for (const ReduceOp op : kAllReduceOps) {
      const bool is_of_bits = op == ReduceOp::kAnd || op == ReduceOp::kOr || op == ReduceOp::kXor;
      const bool expected = is_of_bits ? !is_float : op != ReduceOp::kMean || is_float;
      EXPECT_EQ(comm::is_combinable(op, dtype), expected) << name(op) << " of " << name(dtype);
    }
  }
}

TEST(Combine, TruthValuesStayTruthValues) {
  const auto combined = [](ReduceOp op, std::uint8_t a, std::uint8_t b, std::uint8_t c) {
    const std::vector<Bytes> inputs = {{std::byte{a}}, {std::byte{b}}, {std::byte{c}}};
    Bytes result(1);
    std::byte* const to[] = {result.data()};
    combine(op, DType::kBool, pointers_to(inputs), to, 1);
    return std::to_integer<int>(result[0]);
  };
  for (unsigned bits = 0; bits < 8; ++bits) {
    const auto a = static_cast<std::uint8_t>(bits & 1), b = static_cast<std::uint8_t>(bits >> 1 & 1),
               c = static_cast<std::uint8_t>(bits >> 2 & 1);
    const int any = bits != 0;
    const int all = bits == 7;
    for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kOr})
      EXPECT_EQ(combined(op, a, b, c), any);
    for (const ReduceOp op : {ReduceOp::kProduct, ReduceOp::kMin, ReduceOp::kAnd}) {
      EXPECT_EQ(combined(op, a, b, c), all);
    }
    EXPECT_EQ(combined(ReduceOp::kXor, a, b, c), a ^ b ^ c);
  }
}

}  // namespace
}  // namespace cohort::test
