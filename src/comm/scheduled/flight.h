#pragma once

#include "comm/call.h"
#include "comm/scheduled/line.h"
#include "comm/work.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace cohort::comm {

/// One call of one rank while it is under way: a state machine that messages move on.
///
/// Threads: one at a time; begun and moved on by the progress thread only.
/// Failure: landed() returns what ends the whole group.
class Flight {
 public:
  struct Facts {
    Call call{};
    std::uint64_t id = 0;  ///< among all flights of this group and rank
    std::uint64_t number =
        0;  ///< the sequence number of a collective; of a message, its number between two ranks
    std::optional<std::uint64_t> ears{};  ///< of a receive: where its message is waited for
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
  /// A message with this ticket is through.
  virtual Status landed(Line& line, int ticket) = 0;
  virtual bool is_done() const = 0;
  /// True if it cannot end without this rank.
  virtual bool waits_for(int rank) const = 0;
  /// True if a message with this ticket goes out; its loss does not matter to us if the receiver is done.
  virtual bool is_send(int ticket) const = 0;
  virtual int peer_of(int ticket) const = 0;
  /// Whom it waits for right now, for the words of an error.
  virtual std::vector<int> pending_peers() const = 0;

 private:
  const Facts facts_;
};

}  // namespace cohort::comm
