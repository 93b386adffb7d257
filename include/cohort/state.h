#pragma once

#include <cohort/dtype.h>
#include <cohort/slice.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace cohort {

/// What becomes of an element that several ranks hold.
enum class Merge : std::uint8_t {
  kSame,  ///< all ranks hold the same bytes: any copy is taken, and copies that differ are an error
  kMean,  ///< the mean of all copies; floating point only
  kSum,   ///< the sum of all copies; floating point only
  kMax,   ///< the largest copy
};

/// A part of a tensor that training changes, as one rank holds it: what the tensor is, which elements of it
/// these are, and their memory. Pieces of one tensor have the same name, on all ranks; a rank may hold
/// several pieces of a tensor.
///
/// Lifetime: owns nothing.
struct Piece {
  std::string name{};
  DType dtype = DType::kF32;
  Shape shape{};  ///< of the whole tensor
  Slice mine{};
  Merge merge = Merge::kSame;
  std::span<std::byte> bytes{};  ///< the elements of `mine`, in its order
};

/// Gets the pieces of a state one by one. What it writes to the bytes of a piece becomes the state.
using StateVisitor = std::function<void(const Piece& piece)>;

}  // namespace cohort
