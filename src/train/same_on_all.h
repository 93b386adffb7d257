#pragma once

#include "comm/group/communicator.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace cohort::train {

/// A value that must be the same on all ranks.
struct SharedValue {
  std::string name;
  std::variant<std::int64_t, double, std::string> value;
};

/// Compares values on all ranks together: the same names in the same order on every rank.
///
/// Failure: throws UsageError on all ranks, naming the first value that differs, the ranks that differ from
/// the majority, and the value of the first of them.
void check_same_on_all(Communicator& group, const std::vector<SharedValue>& values,
                       const std::string& remedy);

/// The global ranks whose `hash` differs from that of the majority, or from that of rank 0 if there is no
/// majority; called on all ranks together.
std::vector<int> deviating_ranks(Communicator& group, std::uint64_t hash);

}  // namespace cohort::train
