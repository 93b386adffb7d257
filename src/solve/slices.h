#pragma once

#include "solve/vectors.h"

#include <cstddef>

namespace cohort::solve {

/// The elements of a vector of `count` that each of `world` ranks holds, with padding behind the last: a
/// multiple of 16. Rank r holds those from r times this number on.
constexpr std::size_t slice_length(std::size_t count, int world) {
  const std::size_t blocks = (count + kBlock - 1) / kBlock;
  const auto ranks = static_cast<std::size_t>(world);
  return (blocks + ranks - 1) / ranks * kBlock;
}

}  // namespace cohort::solve
