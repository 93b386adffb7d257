#pragma once

#include <string>

namespace cohort {

/// Properties of the loaded libtorch on this machine.
struct TorchFacts {
  std::string version;     ///< version of the loaded library, which may be newer than the headers
  int threads = 0;         ///< compute threads that an operator uses by default
  std::string capability;  ///< instruction set of its kernels: DEFAULT, AVX2, AVX512, …
  std::string folder;      ///< of the loaded library
  double matmul_ms = 0;    ///< time of a product of two 512 × 512 f32 matrices, the best of five
};

/// Asks the library, and measures matmul_ms.
TorchFacts torch_facts();

}  // namespace cohort
