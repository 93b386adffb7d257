#pragma once

#include "base/result.h"
#include "launch/job_outcome.h"
#include "launch/rank_output.h"
#include "launch/rank_variables.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What a launcher and its agent on another host say to each other, over the agent's standard input and
// output. The agent begins with a line of text, before which whatever started it may write what it likes;
// everything else is frames: one byte of kind, four of length, the content.

namespace cohort::launch {

/// The first line of an agent, with its version of Cohort.
std::string agent_greeting(std::string_view version);

enum class AgentFrame : std::uint8_t {
  // To the agent.
  kPlan = 1,
  kInterrupt = 2,  ///< a signal
  // From it.
  kOutput = 3,    ///< of a rank
  kFinished = 4,  ///< a rank
  kOutcome = 5,
  kFailure = 6,  ///< ranks could not be started: why
};

/// What an agent is to run.
struct AgentPlan {
  std::vector<std::string> argv{};
  std::string directory{};
  EnvironmentVariables environment{};  ///< on top of what the agent has
  int ranks = 1;
  int first_rank = 0;
  int world = 1;
  std::string rendezvous{};
  std::string key{};  ///< of the job, as text
  bool is_pinned = false;
  std::chrono::nanoseconds grace{};

  std::vector<std::byte> encode() const;
  static Result<AgentPlan> decode(std::span<const std::byte> bytes);
};

/// Bytes of a rank, as it wrote them.
struct OutputPiece {
  int rank = 0;
  Stream stream = Stream::kOutput;
  std::string bytes{};

  std::vector<std::byte> encode() const;
  static Result<OutputPiece> decode(std::span<const std::byte> bytes);
};

std::vector<std::byte> encode_outcome(const JobOutcome& outcome);
Result<JobOutcome> decode_outcome(std::span<const std::byte> bytes);

std::vector<std::byte> encode_number(int number);
Result<int> decode_number(std::span<const std::byte> bytes);

std::vector<std::byte> encode_error(const Error& error);
Error decode_error(std::span<const std::byte> bytes);

/// The frame as it stands in the stream.
std::string framed(AgentFrame kind, std::span<const std::byte> content);

/// Cuts a stream into frames again.
///
/// Failure: next() says kCorrupt for what is no frame, and then for ever.
class FrameCutter {
 public:
  struct Frame {
    AgentFrame kind{};
    std::vector<std::byte> content{};
  };

  void add(std::string_view piece) { rest_ += piece; }
  /// The next whole frame, if it is there.
  Result<std::optional<Frame>> next();

 private:
  std::string rest_;
};

}  // namespace cohort::launch
