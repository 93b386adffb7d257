#pragma once

#include "comm/group/call.h"
#include "comm/group/work.h"
#include "comm/message_passing/line.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace cohort::comm {

/// One call of one rank in flight: a state machine that completed messages drive.
///
/// Threads: the progress thread only.
/// Failure: an error of landed() ends the whole group.
class Flight {
 public:
  struct Facts {
    Call call{};
    std::uint64_t id = 0;  ///< among all flights of this group and rank
    /// The sequence number of a collective; of a message, its number between the two ranks.
    std::uint64_t number = 0;
    std::optional<std::uint64_t> matcher{};  ///< of a receive: the id of its AnyRankMatcher, if any
    TimePoint deadline{};
    std::shared_ptr<Completion> completion{};
  };
  explicit Flight(Facts facts) : facts_(std::move(facts)) {}
  virtual ~Flight() = default;
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

  const Facts& facts() const { return facts_; }
  const Call& call() const { return facts_.call; }
  bool is_collective() const {
    return call().operation != Operation::kSend && call().operation != Operation::kReceive;
  }

  virtual void begin(Line& line) = 0;
  /// The message with this ticket is done.
  virtual Status landed(Line& line, int ticket) = 0;
  virtual bool is_done() const = 0;
  /// True if the call cannot end without this rank.
  virtual bool waits_for(int rank) const = 0;
  /// True if the message with this ticket is a send: its loss does not matter if the receiver has all it
  /// needs.
  virtual bool is_send(int ticket) const = 0;
  virtual int peer_of(int ticket) const = 0;
  /// The ranks that the call waits for now, for error messages.
  virtual std::vector<int> pending_peers() const = 0;

 private:
  const Facts facts_;
};

}  // namespace cohort::comm
