#pragma once

#include "update/optimizer.h"

#include <vector>

// Optimizer kernels: the loops of apply() and add_squares(). They are compiled once for each instruction set
// (kernels_<set>.cpp) and chosen at run time. All instruction sets give the same bits; a test compares them.

namespace cohort::update {

/// The factors of one update, computed in double and rounded once.
struct Coefficients {
  float scale = 1;          ///< factor of the gradient
  float limit = 0;          ///< largest absolute value of a scaled gradient; infinity: no limit
  float decay = 0;          ///< factor of the parameter that is added to the gradient
  float shrink = 1;         ///< factor of the parameter before the update
  float momentum = 0;       ///< factor of the first moment
  float first_new = 0;      ///< factor of the gradient in the first moment
  float second_old = 0;     ///< factor of the second moment
  float second_new = 0;     ///< factor of the squared gradient in the second moment
  float second_factor = 1;  ///< factor of the root of the second moment
  float eps = 0;
  float rate = 0;  ///< factor of the change of the parameter
};

Coefficients coefficients(const OptimizerSettings& settings, const UpdateStep& step);

enum class InstructionSet { kGeneric, kAvx2, kAvx512 };

/// The instruction sets of this machine, the widest last.
std::vector<InstructionSet> available_sets();
/// The widest instruction set of this machine.
InstructionSet best_set();

/// The momentum of sgd.
enum class Momentum { kNone, kClassic, kNesterov };
Momentum momentum_of(const OptimizerSettings& settings);

/// Whether weight decay is added to the gradient.
enum class Decay { kNone, kOfGradient };

/// The variants that have a loop of their own.
struct KernelKind {
  OptimizerKind optimizer = OptimizerKind::kSgd;
  Momentum momentum = Momentum::kNone;
  Decay decay = Decay::kNone;
};

inline constexpr std::size_t kSquareBlock = 16;

struct Kernels {
  using Update = void (*)(const Coefficients&, const UpdateSpans&);
  Update (*update)(const KernelKind&) = nullptr;
  /// The sum of squares of each block of kSquareBlock values.
  void (*square_sums)(const float* values, std::size_t num_blocks, double* sums) = nullptr;
};

Kernels kernels_of(InstructionSet set);
Kernels kernels_generic();
Kernels kernels_avx2();
Kernels kernels_avx512();

}  // namespace cohort::update
