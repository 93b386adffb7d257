#pragma once

#include "base/instruction_set.h"
#include <cohort/dtype.h>

#include <cstddef>

// The loops of channels.h, compiled once for each instruction set (kernels_<set>.cpp) and chosen at run time.
// All instruction sets give the same bits; a test compares them. Sums are made in f64.

namespace cohort::normalise {

/// The numbers of one channel where points follow each other: `number` runs of `length` numbers, one for each
/// sample, each `stride` numbers after the one before.
struct Runs {
  std::size_t number = 0;
  std::size_t length = 0;
  std::size_t stride = 0;
};

/// Numbers where channels follow each other: `number` rows of one number for each channel.
struct Rows {
  std::size_t number = 0;
  std::size_t channels = 0;
};

/// A loop that reads a batch x, and the gradient g of the output if it needs that, and adds to two sums per
/// channel: `sums` has the first sums of all channels, then the second ones. `pivot` is one f64 per channel.
struct SumLoop {
  void (*runs)(const std::byte* x, const std::byte* g, const Runs& runs, const double* pivot, double* sums);
  void (*rows)(const std::byte* x, const std::byte* g, const Rows& rows, const double* pivot, double* sums);
};

/// A loop that writes a number for each number of x. `factors` are in the type of the arithmetic (f64 for
/// f64, otherwise f32): the first factors of all channels, then the second ones, ….
struct MapLoop {
  void (*runs)(const std::byte* x, const std::byte* g, std::byte* to, const Runs& runs, const void* factors);
  void (*rows)(const std::byte* x, const std::byte* g, std::byte* to, const Rows& rows, const void* factors);
};

/// The loops for one dtype.
struct Kernels {
  SumLoop moments{};   ///< Σ(x - pivot), Σ(x - pivot)²
  SumLoop products{};  ///< Σg, Σg(x - pivot)
  MapLoop affine{};    ///< x·a + b
  MapLoop gradient{};  ///< g·a + x·b + c
};

/// `dtype` is a float.
Kernels kernels_of(InstructionSet set, DType dtype);
Kernels kernels_generic(DType dtype);
Kernels kernels_avx2(DType dtype);
Kernels kernels_avx512(DType dtype);

}  // namespace cohort::normalise
