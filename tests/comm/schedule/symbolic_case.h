#pragma once

#include "comm/schedule/algorithm.h"
#include "schedule_check.h"
#include "soak.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

// Collective calls whose schedules are run symbolically, with awkward sizes.

namespace cohort::comm {

using Counts = std::vector<std::size_t>;

// Up to the fourth power of two and one more; `make soak` goes on to the fifth.
inline const int kWorlds = test::rounds(17, 33);

enum class Placing { kApart, kInPlace };

/// A call to check. `facts` are those of rank 0; facts_of() gives those of the other ranks.
struct Case {
  const Algorithm& algorithm;
  CallFacts facts{};
  std::vector<Counts> matrix{};  ///< all_to_all only: elements [from][to]

  CallFacts facts_of(int rank) const;
  std::string text() const;
};

std::vector<Schedule> schedules_of(const Case& one);
std::vector<RankMemory> memories_of(const Case& one, Placing placing);

/// Runs one order of steps and finds a wrong output, a wrong rounding, or a cost other than the formula's.
std::optional<std::string> check_run(Terms& terms, const Case& one, const std::vector<Schedule>& schedules,
                                     const std::vector<RankMemory>& memories, RunOptions options);
/// Checks the case with separate and with overlapping buffers, with copied and with synchronous sends.
void expect_right(const Case& one);
/// Whether a check has failed already: one failing case is enough.
bool stop();

Counts awkward_counts(int world);
std::vector<Counts> awkward_parts(int world);
std::vector<int> awkward_roots(int world);
bool has_root(Operation operation);
bool combines(Operation operation);

/// Assignments of ranks to hosts: adjacent, round robin, of different sizes, of one rank.
std::vector<std::vector<int>> host_maps(int world);

/// Calls `check` with the facts of every awkward size and root of an operation.
template <class Check>
void for_awkward_facts(Operation operation, int world, Check check) {
  for (const int root : has_root(operation) ? awkward_roots(world) : std::vector<int>{0}) {
    CallFacts facts{.operation = operation, .world = world, .root = root};
    switch (operation) {
      case Operation::kBarrier:
        check(facts);
        break;
      case Operation::kReduceScatter:
      case Operation::kAllGather:
      case Operation::kGather:
      case Operation::kScatter:
        for (const Counts& parts : awkward_parts(world)) {
          facts.parts = parts;
          facts.count = first_of_part(parts, world);
          check(facts);
        }
        break;
      default:
        for (const std::size_t count : awkward_counts(world)) {
          facts.count = count;
          check(facts);
        }
    }
  }
}

}  // namespace cohort::comm
