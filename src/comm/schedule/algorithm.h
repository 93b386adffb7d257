#pragma once

#include "comm/schedule/call_facts.h"
#include "comm/schedule/effort.h"
#include "comm/schedule/schedule.h"
#include <cohort/collective_algorithm.h>

#include <span>
#include <string_view>
#include <vector>

namespace cohort::comm {

/// Whether an algorithm treats ranks on the same host differently from ranks on other hosts.
enum class HostAwareness { kNone, kAware };

/// A way to run collective operations: a row of all_algorithms().
struct Algorithm {
  CollectiveAlgorithm id{};
  std::string_view summary{};  ///< one line for help texts
  std::vector<Operation> operations{};
  HostAwareness host_awareness = HostAwareness::kNone;
  /// Whether the algorithm can run this call, whose operation is one of `operations`.
  bool (*applies)(const CallFacts&) = nullptr;
  Schedule (*make)(const CallFacts&) = nullptr;
  Effort (*effort)(const CallFacts&) = nullptr;

  std::string_view name() const { return cohort::name(id); }
};

/// A row for every CollectiveAlgorithm.
std::span<const Algorithm> all_algorithms();
const Algorithm& algorithm_of(CollectiveAlgorithm id);

/// Whether the algorithm has the operation of the call and can run it.
bool serves(const Algorithm& algorithm, const CallFacts& facts);

/// The schedule of `facts.rank`. serves(algorithm, facts) must hold.
Schedule plan_call(const Algorithm& algorithm, const CallFacts& facts);

}  // namespace cohort::comm
