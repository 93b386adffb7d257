#pragma once

#include "base/result.h"
#include "measure/bench_operation.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// What the controller and the rank processes of a bench say to each other: lines of words, one message each.
/// A participant in another language needs a socket and a split at spaces.
namespace cohort::measure {

/// The environment variable that holds the name of the controller's socket (abstract: without the leading
/// zero byte).
inline constexpr const char* kControlVariable = "COHORT_BENCH_CONTROL";

/// A participant introduces itself: `hello memcpy 1 2`.
struct Hello {
  std::string group{};
  int rank = 0;
  int ranks = 1;

  std::string encode() const;
  static Result<Hello> decode(std::string_view line);
  bool operator==(const Hello&) const = default;
};

/// The controller asks for samples: `run all_reduce arena 16384 20 4 160`.
struct RunCommand {
  BenchOperation operation = BenchOperation::kAllReduce;
  std::string kind{};            ///< where the buffers live, or another wish that the group understands
  std::size_t elements = 0;      ///< of the whole buffer, f32
  std::uint32_t iterations = 1;  ///< samples
  std::uint32_t batch = 1;       ///< calls per sample, back to back, each on buffers of its own
  std::uint64_t salt = 0;        ///< of the first call; every further call has the next

  std::string encode() const;
  static Result<RunCommand> decode(std::string_view line);
  bool operator==(const RunCommand&) const = default;
};

/// The controller asks for training steps, one sample each: `steps 4`.
struct StepCommand {
  std::uint32_t steps = 1;

  std::string encode() const;
  static Result<StepCommand> decode(std::string_view line);
  bool operator==(const StepCommand&) const = default;
};

/// When the timed section of an iteration began and ended on one rank: nanoseconds of CLOCK_MONOTONIC.
struct Interval {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;

  bool operator==(const Interval&) const = default;
};

/// The answer to a run that went well: `times 100:250 300:420`.
struct Times {
  std::vector<Interval> intervals{};

  std::string encode() const;
  bool operator==(const Times&) const = default;
};
/// The answer to a run that did not: `failed wrong result: …`.
struct Failed {
  std::string reason{};

  std::string encode() const;
  bool operator==(const Failed&) const = default;
};
/// The participant has no such operation or kind: `unsupported …`.
struct Unsupported {
  std::string reason{};

  std::string encode() const;
  bool operator==(const Unsupported&) const = default;
};
using Answer = std::variant<Times, Failed, Unsupported>;
Result<Answer> decode_answer(std::string_view line);

/// The controller has no further wish: the participant ends.
inline constexpr std::string_view kEndLine = "end";

/// No message is longer.
inline constexpr std::size_t kLongestLineBytes = std::size_t{1} << 20;
/// A run has no more samples than fit into an answer, and no more calls than anybody needs.
inline constexpr std::uint32_t kMostIterations = 10000;
inline constexpr std::uint32_t kLargestBatch = 10000;

}  // namespace cohort::measure
