#include "update/kernels.h"

#include "tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <tuple>
#include <vector>

namespace cohort::update {
namespace {

// Numbers that rounding, overflow and underflow treat differently.
constexpr float kSpecial[] = {0.0f,   -0.0f,    1e-42f,    -1e-42f, 1e-38f,   3e38f,
                              -3e38f, INFINITY, -INFINITY, NAN,     1.5e-19f, 2e19f};

std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  // The payload of a NaN may differ between instruction sets.
  for (const float value : values)
    bits.push_back(std::isnan(value) ? 0x7fc00000u : std::bit_cast<std::uint32_t>(value));
  return bits;
}

Arrays special_arrays(const OptimizerSettings& settings, std::size_t count) {
  Arrays arrays(settings, count, 3);
  constexpr std::size_t kNumSpecial = std::size(kSpecial);
  for (std::size_t i = 0; i < count; i += 3) arrays.gradients[i] = kSpecial[(i / 3) % kNumSpecial];
  const MomentNames names = moment_names(settings);
  for (std::size_t which = 0; which < kMostMoments; ++which) {
    const bool has_signs =
        names[which] == "exp_avg" || names[which] == "momentum_buffer" || names[which] == "grad_avg";
    for (std::size_t i = 0; i < arrays.moments[which].size(); ++i) {
      const RandomStream random(3, 8 + which);
      arrays.moments[which][i] = static_cast<float>(has_signs ? random.normal(i) : random.uniform(i));
    }
  }
  return arrays;
}

// The input of a kernel.
struct Given {
  OptimizerSettings settings;
  Decay decay = Decay::kNone;
  std::size_t count = 0;
  std::size_t offset = 0;
};

Arrays updated_by(InstructionSet set, Given given) {
  given.settings.weight_decay = given.decay == Decay::kNone ? 0 : 0.3;
  Arrays arrays = special_arrays(given.settings, given.count + given.offset);
  const OptimizerRule& rule = kernels_of(set).rules[static_cast<std::size_t>(given.settings.kind)];
  const Variant variant = variant_of(given.settings);
  const Coefficients c = coefficients(
      given.settings,
      {.count = 5, .learning_rate = 0.37, .gradient_scale = 0.7, .clip_value = 2.5e4, .tensor_factor = 0.3});
  UpdateSpans spans = arrays.spans();
  if (rule.first_pass != nullptr) {
    spans.directions = arrays.gradients.data();
    rule.first_pass(variant)(c, spans.subspan(given.offset, given.count));
  }
  rule.kernel(variant)(c, spans.subspan(given.offset, given.count));
  return arrays;
}

void expect_same_bits(const Arrays& found, const Arrays& expected, const std::string& where) {
  EXPECT_EQ(bits_of(found.parameters), bits_of(expected.parameters)) << where;
  EXPECT_EQ(bits_of(found.gradients), bits_of(expected.gradients)) << where;
  for (std::size_t i = 0; i < kMostMoments; ++i) {
    EXPECT_EQ(bits_of(found.moments[i]), bits_of(expected.moments[i])) << where;
  }
}

TEST(Kernels, GiveTheSameBitsWithEveryInstructionSet) {
  for (const InstructionSet set : available_sets()) {
    std::vector<OptimizerCase> cases = all_optimizers();
    for (const OptimizerCase& each : tensor_optimizers()) cases.push_back(each);
    for (const OptimizerCase& each : cases) {
      for (const Decay decay : {Decay::kNone, Decay::kOfGradient}) {
        for (const std::size_t count : kAwkwardCounts) {
          for (const std::size_t offset : {0ul, 1ul, 5ul}) {
            const Given given{each.settings, decay, count, offset};
            expect_same_bits(updated_by(set, given), updated_by(InstructionSet::kGeneric, given),
                             each.name + " of " + std::to_string(count));
          }
        }
      }
    }
  }
}

TEST(Kernels, AddSquaresInTheSameOrderWithEveryInstructionSet) {
  constexpr std::size_t kBlocks = 37;
  std::vector<float> values(kBlocks * kSquareBlock);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(RandomStream(3, 1).normal(i));
  }
  const auto sums_of = [&](const Kernels& kernels) {
    std::vector<double> sums(kBlocks);
    kernels.square_sums(values.data(), kBlocks, sums.data());
    return sums;
  };
  const std::vector<double> expected = sums_of(kernels_generic());
  for (const InstructionSet set : available_sets()) EXPECT_EQ(sums_of(kernels_of(set)), expected);
  for (std::size_t block = 0; block < kBlocks; ++block) {
    long double exact = 0;
    for (std::size_t i = 0; i < kSquareBlock; ++i) {
      const float value = values[block * kSquareBlock + i];
      exact += static_cast<long double>(value) * value;
    }
    EXPECT_NEAR(expected[block], static_cast<double>(exact), 1e-15 * kSquareBlock * expected[block]);
  }
}

// Lengths before and behind multiples of the width of a register.
TEST(Kernels, RowsOfAMatrixHaveTheSameBitsWithEveryInstructionSet) {
  for (const std::size_t count : {0u, 1u, 7u, 8u, 9u, 31u, 64u, 101u}) {
    std::vector<float> row, means;
    for (std::size_t i = 0; i < count; ++i) {
      row.push_back(0.1f * static_cast<float>(i) - 1.7f);
      means.push_back(i % 5 == 0 ? 0 : 0.3f / static_cast<float>(i));
    }
    const auto results = [&](InstructionSet set) {
      const Kernels kernels = kernels_of(set);
      std::vector<double> columns(count, 0.25);
      const double sum = kernels.row_squares(row.data(), count, columns.data());
      std::vector<float> divided = row;
      kernels.divide_row(
          {.row = divided.data(), .count = count, .mean = 0.7f, .column_means = means.data(), .eps = 1e-3f});
      return std::tuple(sum, columns, divided);
    };
    const auto expected = results(InstructionSet::kGeneric);
    for (const InstructionSet set : available_sets()) EXPECT_EQ(results(set), expected) << count;
    const auto& [sum, columns, divided] = expected;
    double squares = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double square = double{row[i]} * double{row[i]};
      squares += square;
      EXPECT_EQ(columns[i], 0.25 + square);
      EXPECT_FLOAT_EQ(divided[i], row[i] / std::max(std::sqrt(0.7f * means[i]), 1e-3f));
    }
    EXPECT_NEAR(sum, squares, 1e-12);
  }
}

}  // namespace
}  // namespace cohort::update
