#pragma once

#include <cstddef>
#include <cstdint>

namespace cohort {

/// One implementation of XXH3 with 64 bits; all of them give the same hashes. No header of C++ with code in
/// it is included here: the compiler may use instructions in it that not every machine has.
struct HashKernel {
  const char* name;
  std::uint64_t (*of)(const void* bytes, std::size_t size_bytes, std::uint64_t seed);
  /// `state` is an XXH3_state_t, which any kernel may go on with.
  void (*add)(void* state, const void* bytes, std::size_t size_bytes);
};

extern const HashKernel kPortableHash;
/// Only where the machine has AVX2; twice as fast.
extern const HashKernel kAvx2Hash;

/// The fastest that this machine has the instructions for.
const HashKernel& hash_kernel();

}  // namespace cohort
