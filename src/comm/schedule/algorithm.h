#pragma once

#include "comm/schedule/call_facts.h"
#include "comm/schedule/effort.h"
#include "comm/schedule/schedule.h"

#include <span>
#include <string_view>
#include <vector>

namespace cohort::comm {

/// Whether an algorithm treats ranks of one host in another way than those of different hosts.
enum class HostAwareness { kNone, kAware };

/// A way to run operations: a row of the table below.
struct Algorithm {
  std::string_view name{};
  std::string_view summary{};  ///< one line for lists
  std::vector<Operation> operations{};
  HostAwareness host_awareness = HostAwareness::kNone;
  /// Whether it can run this call; the operation is one of `operations`.
  bool (*applies)(const CallFacts&) = nullptr;
  Schedule (*make)(const CallFacts&) = nullptr;
  Effort (*effort)(const CallFacts&) = nullptr;
};

/// ring, halving_doubling, doubling, direct, split, tree, star, hierarchical, dissemination.
std::span<const Algorithm> all_algorithms();
/// Null if there is none of this name.
const Algorithm* find_algorithm(std::string_view name);

/// Whether the algorithm can run the call: it knows the operation and applies.
bool serves(const Algorithm& algorithm, const CallFacts& facts);

/// What the rank of `facts` has to do. The algorithm must serve the call.
Schedule plan_call(const Algorithm& algorithm, const CallFacts& facts);

}  // namespace cohort::comm
