#pragma once

#include "base/instruction_set.h"
#include "update/optimizer.h"
#include "update/two_passes.h"

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

// Optimizer kernels: the loops of apply() and add_squares(). They are compiled once for each instruction set
// (kernels_<set>.cpp) and chosen at run time. All instruction sets give the same bits; a test compares them.

namespace cohort::update {

/// The factors of one update, computed in double and rounded once. A kernel takes those that it needs; names
/// are those of the formulas in cohort/optimizer.h.
struct Coefficients {
  float scale = 1;          ///< factor of the gradient; negative to maximize
  float limit = 0;          ///< largest absolute value of a scaled gradient; infinity: no limit
  float decay = 0;          ///< factor of the parameter that is added to the gradient
  float shrink = 1;         ///< factor of the parameter before the update, for decoupled weight decay
  float momentum = 0;       ///< μ
  float undamped = 1;       ///< factor of the gradient that is added to the first moment of sgd
  float first_new = 0;      ///< 1-β₁, or 1-μ of muon
  float second_old = 0;     ///< β₂, α or ρ
  float second_new = 0;     ///< 1-β₂, 1-α or 1-ρ
  float second_factor = 1;  ///< factor of the root of the second moment: 1/√(1-β₂ᵗ)
  float eps = 0;            ///< ε
  float rate = 0;           ///< learning rate; that of adagrad after lr_decay; ηφ of lamb, ηs of muon
  float corrected_rate = 0;  ///< factor of the first moment: η/(1-β₁ᵗ); ηbₜ of nadam; 1/(1-β₁ᵗ) of lamb
  float gradient_rate = 0;   ///< factor of the gradient: ηaₜ of nadam
  float rectified_rate = 0;  ///< factor of m/(√v + ε) in radam; 0 while ρₜ is at most 5
  float trust = 1;           ///< φ of lars
};

Coefficients coefficients(const OptimizerSettings& settings, const UpdateStep& step);

/// μₜ of nadam, for settings with defaults, and the product of the first `count`.
double nadam_mu(const OptimizerSettings& settings, std::int64_t count);
double mu_product(const OptimizerSettings& settings, std::int64_t count);

using cohort::available_sets;
using cohort::best_set;
using cohort::InstructionSet;

/// The momentum of sgd and its relatives.
enum class Momentum { kNone, kClassic, kNesterov };
/// Whether weight decay is added to the gradient.
enum class Decay { kNone, kOfGradient };

/// The settings that have a loop of their own.
struct Variant {
  Momentum momentum = Momentum::kNone;
  Decay decay = Decay::kNone;
  bool amsgrad = false;
  bool centered = false;
};
Variant variant_of(const OptimizerSettings& settings);

using Kernel = void (*)(const Coefficients&, const UpdateSpans&);

/// The defaults of an optimizer; those that are not set belong to settings that it has no use for.
struct Defaults {
  double learning_rate = 0;
  std::optional<double> momentum{};
  std::optional<bool> nesterov{};
  std::optional<std::pair<double, double>> betas{};
  std::optional<double> eps{};
};

/// An optimizer: a line of the table in rules.h.
struct OptimizerRule {
  OptimizerKind kind = OptimizerKind::kSgd;
  std::string_view name{};                           ///< in job files
  MomentNames (*moments)(const Variant&) = nullptr;  ///< as torch.optim calls them
  Needs needs = Needs::kElements;
  Kernel (*kernel)(const Variant&) = nullptr;
  Defaults defaults{};
  std::string_view uses{};       ///< settings besides those of the defaults, separated by spaces
  bool decouples_decay = false;  ///< weight decay shrinks the parameter instead of joining the gradient
  /// The first of two passes, of an optimizer that needs more than elements: two_passes.h.
  Kernel (*first_pass)(const Variant&) = nullptr;
};

inline constexpr std::size_t kSquareBlock = 16;

/// Matrices in row-major order: `left` has `rows` × `inner` elements, `right` has `inner` × `columns`.
struct MatrixProduct {
  const float* left = nullptr;
  const float* right = nullptr;
  float* result = nullptr;
  std::size_t rows = 0;
  std::size_t inner = 0;
  std::size_t columns = 0;
};

/// A row of a matrix that adafactor divides.
struct FactoredRow {
  float* row = nullptr;
  std::size_t count = 0;
  float mean = 0;  ///< of the row, over the mean of all rows
  const float* column_means = nullptr;
  float eps = 0;
};

struct Kernels {
  std::span<const OptimizerRule> rules{};  ///< in the order of OptimizerKind
  /// The sum of squares of each block of kSquareBlock values.
  void (*square_sums)(const float* values, std::size_t num_blocks, double* sums) = nullptr;
  void (*multiply)(const MatrixProduct& job) = nullptr;
  /// Adds the squares of a row of a matrix to the sums of its columns; returns the sum over the row.
  double (*row_squares)(const float* row, std::size_t count, double* column_sums) = nullptr;
  void (*divide_row)(const FactoredRow& job) = nullptr;
};

/// The line of a kind, with kernels for this machine.
const OptimizerRule& rule_of(OptimizerKind kind);
/// Whether weight decay shrinks the parameter instead of joining the gradient.
bool decouples_decay(const OptimizerSettings& settings);

Kernels kernels_of(InstructionSet set);
Kernels kernels_generic();
Kernels kernels_avx2();
Kernels kernels_avx512();

}  // namespace cohort::update
