#pragma once

#include <cstddef>
#include <cstdint>

// The loop of Dropout, compiled once for every instruction set (dropout_<set>.cpp), chosen at run time. Every
// set gives the same bits.

namespace cohort::model {

/// What is kept of one sample's elements.
struct DropoutRow {
  std::uint64_t key;        ///< the seed of the sample's random stream
  std::uint64_t sample;     ///< its number
  std::uint32_t threshold;  ///< an element is dropped whose random word is below
  double scale;             ///< of those that are kept
};

template <class T>
using DropoutKernel = void (*)(const DropoutRow&, const T* from, T* to, std::size_t count);

struct DropoutKernels {
  DropoutKernel<float> of_float;
  DropoutKernel<double> of_double;
};

DropoutKernels dropout_kernels_generic();
DropoutKernels dropout_kernels_avx2();
DropoutKernels dropout_kernels_avx512();

/// The best of this machine.
DropoutKernels dropout_kernels();

}  // namespace cohort::model
