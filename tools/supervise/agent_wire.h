#pragma once

#include "base/result.h"
#include "supervise/job_outcome.h"
#include "supervise/rank_output.h"
#include "supervise/rank_variables.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The protocol between a launcher and its agent on another host, over the agent's standard input and output.
// The agent's first line is a greeting in plain text; text before the greeting (a login message) is skipped.
// Everything after the greeting is frames: one byte of kind, four bytes of length (little endian), the
// content.

namespace cohort::supervise {

/// The first line that an agent writes: its name and its version of Cohort.
std::string agent_greeting(std::string_view version);

enum class AgentFrame : std::uint8_t {
  // From the launcher to the agent.
  kPlan = 1,
  kInterrupt = 2,  ///< the number of a signal for the ranks
  // From the agent to the launcher.
  kOutput = 3,    ///< bytes that a rank wrote
  kFinished = 4,  ///< the number of a rank that writes nothing more
  kOutcome = 5,
  kFailure = 6,  ///< the error that kept ranks from starting
};

/// The ranks that an agent runs, and how.
struct AgentPlan {
  std::vector<std::string> argv{};
  std::string directory{};
  EnvironmentVariables environment{};  ///< added to the agent's own environment
  int ranks = 1;
  int first_rank = 0;
  int world = 1;
  RoleFacts roles{};  ///< of all ranks
  RankLoss rank_loss = RankLoss::kEnd;
  std::string rendezvous{};
  std::string key{};  ///< the key of the job, as text
  bool is_pinned = false;
  std::chrono::nanoseconds grace{};

  std::vector<std::byte> encode() const;
  static Result<AgentPlan> decode(std::span<const std::byte> bytes);
};

/// Bytes that a rank wrote to one of its streams.
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

/// The bytes of a frame: header and content.
std::string framed(AgentFrame kind, std::span<const std::byte> content);

/// Cuts a stream of bytes into frames.
///
/// Failure: next() returns kCorrupt for a header with an unknown kind or too large a length, and for every
/// call after that.
class FrameCutter {
 public:
  struct Frame {
    AgentFrame kind{};
    std::vector<std::byte> content{};
  };

  void add(std::string_view piece) { rest_ += piece; }
  /// The next whole frame; empty until all of its bytes were added.
  Result<std::optional<Frame>> next();

 private:
  std::string rest_;
};

}  // namespace cohort::supervise
