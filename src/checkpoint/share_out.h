#pragma once

#include "base/result.h"
#include <cohort/state.h>

#include <cstddef>
#include <span>
#include <vector>

namespace cohort::checkpoint {

/// Elements that one rank writes: a part of a piece that it holds.
struct Portion {
  std::size_t piece = 0;  ///< index among the pieces of the rank
  Slice mine{};           ///< of the tensor
  std::size_t first = 0;  ///< its first element, counted from the start of the piece
};

/// Shares the work of writing a state among the ranks: every element is written once, by a rank that holds
/// it, and the ranks write about equally many bytes. A tensor that a rank holds as a whole is written as a
/// whole. Elements that ranks hold differently, by their merge rule, have one writer, too. Pure.
///
/// `held` are the pieces of all ranks, without bytes; the result is in the same order.
///
/// Failure: kUsage, naming the tensor: no rank holds one of its elements, or two ranks mean different tensors
/// by the same name.
Result<std::vector<std::vector<Portion>>> share_out(std::span<const std::vector<Piece>> held);

}  // namespace cohort::checkpoint
