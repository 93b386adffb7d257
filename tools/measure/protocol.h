#pragma once

#include "base/result.h"
#include "measure/bench_operation.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// The messages between the controller and the rank processes of a benchmark: lines of words, one message
/// each. A participant in another language needs a socket and a split at spaces.
namespace cohort::measure {

/// The environment variable with the name of the controller's socket (abstract, without the leading zero
/// byte).
inline constexpr const char* kControlVariable = "COHORT_BENCH_CONTROL";

/// The greeting of a participant: `hello memcpy 1 2`.
struct Hello {
  std::string group{};
  int rank = 0;
  int ranks = 1;

  std::string encode() const;
  static Result<Hello> decode(std::string_view line);
  bool operator==(const Hello&) const = default;
};

/// A request of the controller for samples: `run all_reduce arena 16384 20 4 160`.
struct RunCommand {
  BenchOperation operation = BenchOperation::kAllReduce;
  std::string kind{};            ///< a kind of buffer or call that the group knows
  std::size_t elements = 0;      ///< of the whole buffer, f32
  std::uint32_t iterations = 1;  ///< samples
  std::uint32_t batch = 1;       ///< calls per sample, back to back, each on its own buffers
  std::uint64_t salt = 0;        ///< of the first call; each further call adds 1

  std::string encode() const;
  static Result<RunCommand> decode(std::string_view line);
  bool operator==(const RunCommand&) const = default;
};

/// A request of the controller for training steps, one sample each: `steps 4`.
struct StepCommand {
  std::uint32_t steps = 1;

  std::string encode() const;
  static Result<StepCommand> decode(std::string_view line);
  bool operator==(const StepCommand&) const = default;
};

/// A request of the controller for one sample of work on a state, such as writing it: `state save 17`.
struct StateCommand {
  std::string work{};      ///< a word that the group knows
  std::uint64_t salt = 0;  ///< of the values of the state

  std::string encode() const;
  static Result<StateCommand> decode(std::string_view line);
  bool operator==(const StateCommand&) const = default;
};

/// The begin and the end of the timed section of an iteration on one rank, in nanoseconds of CLOCK_MONOTONIC.
struct Interval {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;

  bool operator==(const Interval&) const = default;
};

/// The answer to a successful run: `times 100:250 300:420`.
struct Times {
  std::vector<Interval> intervals{};

  std::string encode() const;
  bool operator==(const Times&) const = default;
};
/// The answer to a failed run: `failed wrong result: …`.
struct Failed {
  std::string reason{};

  std::string encode() const;
  bool operator==(const Failed&) const = default;
};
/// The answer of a participant without such an operation or kind: `unsupported …`.
struct Unsupported {
  std::string reason{};

  std::string encode() const;
  bool operator==(const Unsupported&) const = default;
};
using Answer = std::variant<Times, Failed, Unsupported>;
Result<Answer> decode_answer(std::string_view line);

/// The last message of the controller: the participant ends.
inline constexpr std::string_view kEndLine = "end";

/// The maximum length of a message.
inline constexpr std::size_t kLongestLineBytes = std::size_t{1} << 20;
/// Limits of a run: its samples fit into one answer.
inline constexpr std::uint32_t kMostIterations = 10000;
inline constexpr std::uint32_t kLargestBatch = 10000;

}  // namespace cohort::measure
