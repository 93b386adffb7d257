#pragma once

#include <vector>

namespace cohort {

/// The sets of vector instructions that loops are compiled for.
enum class InstructionSet { kGeneric, kAvx2, kAvx512 };

/// The instruction sets of this machine, the widest last.
std::vector<InstructionSet> available_sets();
/// The widest instruction set of this machine.
InstructionSet best_set();

}  // namespace cohort
