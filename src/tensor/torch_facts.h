#pragma once

#include <string>

namespace cohort {

/// What the loaded libtorch says of itself on this machine.
struct TorchFacts {
  std::string version;     ///< of the library that was loaded, which may be newer than the headers
  int threads = 0;         ///< compute threads an operator uses by default
  std::string capability;  ///< the instruction set its kernels chose: DEFAULT, AVX2, AVX512, …
  double matmul_ms = 0;    ///< one product of two 512 × 512 f32 matrices, the best of five
};

/// Asks the library and multiplies.
TorchFacts torch_facts();

}  // namespace cohort
