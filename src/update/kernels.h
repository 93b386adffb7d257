#pragma once

#include "update/optimizer.h"

#include <array>
#include <span>
#include <string_view>
#include <vector>

// Optimizer kernels: the loops of apply() and add_squares(). They are compiled once for each instruction set
// (kernels_<set>.cpp) and chosen at run time. All instruction sets give the same bits; a test compares them.

namespace cohort::update {

/// The factors of one update, computed in double and rounded once. A kernel takes those that it needs.
struct Coefficients {
  float scale = 1;           ///< factor of the gradient
  float limit = 0;           ///< largest absolute value of a scaled gradient; infinity: no limit
  float decay = 0;           ///< factor of the parameter that is added to the gradient
  float shrink = 1;          ///< factor of the parameter before the update, for decoupled weight decay
  float momentum = 0;        ///< factor of the first moment
  float first_new = 0;       ///< 1-β₁
  float second_old = 0;      ///< β₂
  float second_new = 0;      ///< 1-β₂
  float second_factor = 1;   ///< factor of the root of the second moment: 1/√(1-β₂ᵗ)
  float eps = 0;             ///< ε
  float rate = 0;            ///< learning rate
  float corrected_rate = 0;  ///< learning rate over 1-β₁ᵗ
};

Coefficients coefficients(const OptimizerSettings& settings, const UpdateStep& step);

enum class InstructionSet { kGeneric, kAvx2, kAvx512 };

/// The instruction sets of this machine, the widest last.
std::vector<InstructionSet> available_sets();
/// The widest instruction set of this machine.
InstructionSet best_set();

/// The momentum of sgd.
enum class Momentum { kNone, kClassic, kNesterov };
/// Whether weight decay is added to the gradient.
enum class Decay { kNone, kOfGradient };

/// The settings that have a loop of their own.
struct Variant {
  Momentum momentum = Momentum::kNone;
  Decay decay = Decay::kNone;
};
Variant variant_of(const OptimizerSettings& settings);

using Kernel = void (*)(const Coefficients&, const UpdateSpans&);

/// The part of a tensor that an optimizer needs to update an element.
enum class Needs {
  kElements,      ///< the element alone: a tensor may be divided between ranks anywhere
  kTensorNorms,   ///< norms of the whole tensor besides
  kWholeTensors,  ///< all elements
};

/// An optimizer: a line of the table in rules.h.
struct OptimizerRule {
  OptimizerKind kind = OptimizerKind::kSgd;
  std::string_view name{};                           ///< in job files
  MomentNames (*moments)(const Variant&) = nullptr;  ///< as torch.optim calls them
  Needs needs = Needs::kElements;
  Kernel (*kernel)(const Variant&) = nullptr;
};

inline constexpr std::size_t kSquareBlock = 16;

struct Kernels {
  std::span<const OptimizerRule> rules{};  ///< in the order of OptimizerKind
  /// The sum of squares of each block of kSquareBlock values.
  void (*square_sums)(const float* values, std::size_t num_blocks, double* sums) = nullptr;
};

Kernels kernels_of(InstructionSet set);
Kernels kernels_generic();
Kernels kernels_avx2();
Kernels kernels_avx512();

/// Whether the update of a tensor can be shared by ranks: the rule needs nothing but elements.
///
/// Failure: kUsage.
Status check_shareable(const OptimizerRule& rule);

}  // namespace cohort::update
