#pragma once

#include "comm/schedule/schedule.h"
#include "terms.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cohort::comm {

/// One rank's buffers: input, output and scratch; input and output may overlap.
struct RankMemory {
  std::size_t input_count = 0;
  std::size_t output_count = 0;
  /// The first element of the output relative to the input, if they overlap; may be negative.
  std::optional<std::ptrdiff_t> output_in_input{};
};

/// When a send is done: at once, because its elements are copied, or when the receive has begun.
enum class Sending { kCopied, kMeeting };

struct RunOptions {
  std::uint64_t seed = 0;  ///< of the order in which ready steps run
  Sending sending = Sending::kCopied;
};

/// Elements counted on one rank.
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
      heard_of{};  ///< per rank, at its end: a bit for every rank that it knows has begun
};

/// Runs the schedules of all ranks together, with symbols instead of numbers. Input element i of rank r is
/// the leaf (r, i).
RunOutcome run_schedules(Terms& terms, const std::vector<Schedule>& schedules,
                         const std::vector<RankMemory>& memories, const RunOptions& options);

/// Finds a fault in one rank's schedule alone: a region outside its buffer, a write to the input, a step that
/// waits for a later one, or two unordered steps of which one writes elements that the other touches.
std::optional<std::string> find_fault(const Schedule& schedule, const RankMemory& memory);

/// Sequential messages, if a rank sends one and receives one at a time.
std::size_t count_steps(const std::vector<Schedule>& schedules);

}  // namespace cohort::comm
