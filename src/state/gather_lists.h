#pragma once

#include "comm/group/communicator.h"

#include <chrono>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

namespace cohort::state {

/// The timeout of a call; not set: that of the group.
using CallLimit = std::optional<std::chrono::nanoseconds>;

/// The numbers of all ranks of a group, in the order of ranks, as many from each as it has. All ranks call it
/// together.
template <class Number>
Result<std::vector<std::vector<Number>>> gather_lists(Communicator& group, const std::vector<Number>& mine,
                                                      CallLimit limit = {}) {
  const auto world = static_cast<std::size_t>(group.size());
  const std::int64_t own = static_cast<std::int64_t>(mine.size());
  std::vector<std::int64_t> sizes(world);
  COHORT_RETURN_IF_ERROR(group.run(
      all_gather(std::span(&own, 1), std::span(sizes)).within(limit.value_or(group.facts().limit))));
  const std::vector<std::size_t> counts(sizes.begin(), sizes.end());
  std::vector<Number> all(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  COHORT_RETURN_IF_ERROR(group.run(all_gather(std::span(mine), std::span(all), counts)));
  std::vector<std::vector<Number>> by_rank;
  auto first = all.begin();
  for (const std::size_t count : counts) {
    by_rank.emplace_back(first, first + static_cast<std::ptrdiff_t>(count));
    first += static_cast<std::ptrdiff_t>(count);
  }
  return by_rank;
}

/// The error of this rank, or that of the first rank that has one, as kAborted with its number. All ranks
/// call it together.
Status agree(Communicator& group, const Status& mine, CallLimit limit = {});
/// The largest of the numbers of all ranks. All ranks call this together.
Result<std::int64_t> largest_of_all(Communicator& group, std::int64_t mine);

}  // namespace cohort::state
