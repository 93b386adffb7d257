#pragma once

#include "update/coefficients.h"

#include <vector>

// The loops of apply() and square_sum(), compiled once for every instruction set (kernels_<set>.cpp), chosen
// at run time. Every set gives the same bits; a test compares them.

namespace cohort::update {

enum class InstructionSet { kGeneric, kAvx2, kAvx512 };

/// Those of this machine, the best one last.
std::vector<InstructionSet> available_sets();
/// The last of them.
InstructionSet best_set();

/// Whether the parameter is added to its gradient.
enum class Decay { kNone, kOfGradient };

/// What a loop is compiled for.
struct KernelKind {
  RuleKind rule = RuleKind::kSgd;
  Decay decay = Decay::kNone;
  Gradient gradient = Gradient::kKeep;
};

struct Kernels {
  using Update = void (*)(const Coefficients&, const UpdateSpans&);
  Update (*update)(const KernelKind&) = nullptr;
  double (*square_sum)(const float* values, std::size_t count) = nullptr;
};

Kernels kernels_of(InstructionSet set);
Kernels kernels_generic();
Kernels kernels_avx2();
Kernels kernels_avx512();

}  // namespace cohort::update
