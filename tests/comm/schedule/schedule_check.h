#pragma once

#include "comm/schedule/schedule.h"
#include "terms.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cohort::comm {

/// One rank's memory: input, output and scratch, of which input and output may overlap.
struct RankMemory {
  std::size_t input_count = 0;
  std::size_t output_count = 0;
  /// Where the output begins, counted from the input, if they overlap; may be negative.
  std::optional<std::ptrdiff_t> output_in_input{};
};

/// When a send is done: at once, its elements copied away, or when the receive has begun.
enum class Sending { kCopied, kMeeting };

struct RunOptions {
  std::uint64_t seed = 0;  ///< of the order in which steps that may run do
  Sending sending = Sending::kCopied;
};

/// What was counted on one rank.
struct Counted {
  std::size_t sent = 0;
  std::size_t received = 0;
  std::size_t combined = 0;
};

struct RunOutcome {
  std::optional<std::string> fault{};
  std::vector<std::vector<Terms::Term>> outputs{};
  std::vector<Counted> counted{};
  std::vector<std::uint64_t>
      heard_of{};  ///< of each rank at its end: a bit for every rank it knows has begun
};

/// Runs the schedules of all ranks together, with symbols for numbers. Input element i of rank r is the leaf
/// (r, i).
RunOutcome run_schedules(Terms& terms, const std::vector<Schedule>& schedules,
                         const std::vector<RankMemory>& memories, const RunOptions& options);

/// What is wrong with one rank's schedule by itself: a region outside its memory, a write to the input, a
/// step after a later one, two steps in no order of which one writes what the other touches.
std::optional<std::string> find_fault(const Schedule& schedule, const RankMemory& memory);

/// Messages one after another, when a rank sends one and receives one at a time.
std::size_t count_steps(const std::vector<Schedule>& schedules);

}  // namespace cohort::comm
