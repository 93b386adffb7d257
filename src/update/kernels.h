#pragma once

#include "base/instruction_set.h"
#include "update/optimizer.h"

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
  float scale = 1;           ///< factor of the gradient; negative to maximize
  float limit = 0;           ///< largest absolute value of a scaled gradient; infinity: no limit
  float decay = 0;           ///< factor of the parameter that is added to the gradient
  float shrink = 1;          ///< factor of the parameter before the update, for decoupled weight decay
  float momentum = 0;        ///< μ
  float undamped = 1;        ///< factor of the gradient that is added to the first moment of sgd
  float first_new = 0;       ///< 1-β₁
  float second_old = 0;      ///< β₂, α or ρ
  float second_new = 0;      ///< 1-β₂, 1-α or 1-ρ
  float second_factor = 1;   ///< factor of the root of the second moment: 1/√(1-β₂ᵗ)
  float eps = 0;             ///< ε
  float rate = 0;            ///< learning rate; that of adagrad after lr_decay
  float corrected_rate = 0;  ///< factor of the first moment: η/(1-β₁ᵗ); ηbₜ of nadam
  float gradient_rate = 0;   ///< factor of the gradient: ηaₜ of nadam
  float rectified_rate = 0;  ///< factor of m/(√v + ε) in radam; 0 while ρₜ is at most 5
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

/// The part of a tensor that an optimizer needs to update an element.
enum class Needs {
  kElements,      ///< the element alone: a tensor may be divided between ranks anywhere
  kTensorNorms,   ///< norms of the whole tensor besides
  kWholeTensors,  ///< all elements
};

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
};

inline constexpr std::size_t kSquareBlock = 16;

struct Kernels {
  std::span<const OptimizerRule> rules{};  ///< in the order of OptimizerKind
  /// The sum of squares of each block of kSquareBlock values.
  void (*square_sums)(const float* values, std::size_t num_blocks, double* sums) = nullptr;
};

/// The line of a kind, with kernels for this machine.
const OptimizerRule& rule_of(OptimizerKind kind);
/// Whether weight decay shrinks the parameter instead of joining the gradient.
bool decouples_decay(const OptimizerSettings& settings);

Kernels kernels_of(InstructionSet set);
Kernels kernels_generic();
Kernels kernels_avx2();
Kernels kernels_avx512();

/// Whether the update of a tensor can be shared by ranks: the rule needs nothing but elements.
///
/// Failure: kUsage.
Status check_shareable(const OptimizerRule& rule);

}  // namespace cohort::update
