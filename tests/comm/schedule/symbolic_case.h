#pragma once

#include "comm/schedule/algorithm.h"
#include "schedule_check.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

// Calls whose schedules are run symbolically, and the awkward ones of them.

namespace cohort::comm {

using Counts = std::vector<std::size_t>;

constexpr int kWorlds = 33;

inline std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

enum class Placing { kApart, kInPlace };

/// All that is known of a case: facts of rank 0 stand for everybody's but where ranks differ.
struct Case {
  const Algorithm& algorithm;
  CallFacts facts{};
  std::vector<Counts> matrix{};  ///< of all_to_all: [from][to]

  CallFacts facts_of(int rank) const;
  std::string text() const;
};

std::vector<Schedule> schedules_of(const Case& one);
std::vector<RankMemory> memories_of(const Case& one, Placing placing);

/// What is wrong with one order of steps: an output, a rounding, or that it takes more than the formula says.
std::optional<std::string> check_run(Terms& terms, const Case& one, const std::vector<Schedule>& schedules,
                                     const std::vector<RankMemory>& memories, RunOptions options);
/// Apart and in place, with copied and with meeting messages.
void expect_right(const Case& one);
/// Whether something is wrong already: one case says enough.
bool stop();

Counts awkward_counts(int world);
std::vector<Counts> awkward_parts(int world);
std::vector<int> awkward_roots(int world);
bool has_root(Operation operation);
bool combines(Operation operation);

/// Hosts of all shapes: in rows, dealt out, of different sizes, of one rank.
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
