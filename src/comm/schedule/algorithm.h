#pragma once

#include "comm/schedule/call_facts.h"
#include "comm/schedule/effort.h"
#include "comm/schedule/schedule.h"

#include <cstddef>
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

/// The time the algorithm should take by its formula: steps × α + bytes × β + combined bytes × γ.
double predict_seconds(const Algorithm& algorithm, const CallFacts& facts, std::size_t element_bytes,
                       const Prices& prices);

/// The algorithm with the least predicted time; of equals the first of the table. Every rank chooses the
/// same. Gather and scatter always take the star, because only their root knows the lengths of all parts.
/// Send and receive are no operations of a whole group and have none: BugError.
const Algorithm& choose(const CallFacts& facts, std::size_t element_bytes, const Prices& prices);

}  // namespace cohort::comm
