#include "update/kernels.h"

namespace cohort::update {

std::vector<InstructionSet> available_sets() {
  std::vector<InstructionSet> sets = {InstructionSet::kGeneric};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) sets.push_back(InstructionSet::kAvx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    sets.push_back(InstructionSet::kAvx512);
  }
#endif
  return sets;
}

InstructionSet best_set() {
  static const InstructionSet best = available_sets().back();
  return best;
}

Kernels kernels_of(InstructionSet set) {
  switch (set) {
    case InstructionSet::kGeneric:
      return kernels_generic();
    case InstructionSet::kAvx2:
      return kernels_avx2();
    case InstructionSet::kAvx512:
      return kernels_avx512();
  }
  return kernels_generic();
}

}  // namespace cohort::update
