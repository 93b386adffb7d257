#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cohort::checkpoint {

/// The snapshots that are kept: those that one of the rules names.
struct Retention {
  int last = 3;                         ///< the newest ones; at least 1
  int best = 1;                         ///< those with the lowest loss
  std::optional<std::int64_t> every{};  ///< those whose step is a multiple
};

/// A snapshot as the rules see it.
struct Kept {
  std::string name{};
  std::int64_t step = 0;
  std::optional<double> loss{};  ///< of the last evaluation before it
  std::string base{};            ///< the full snapshot that it completes; empty if it is full
};

/// The names of the snapshots that no rule keeps, and that no kept one needs as its base; the newest first,
/// so that a difference is removed before its base. Pure.
std::vector<std::string> expendable(std::span<const Kept> snapshots, const Retention& retention);

}  // namespace cohort::checkpoint
