#pragma once

#include "comm/scheduled/announcement.h"
#include "comm/scheduled/flight.h"

#include <array>

namespace cohort::comm {

/// A send or a receive under way: a description goes first, the numbers follow, so that the receiver can tell
/// what is wrong if it expects something else.
class MessageFlight final : public Flight {
 public:
  explicit MessageFlight(Facts facts);

  void begin(Line& line) override;
  Status landed(Line& line, int ticket) override;
  bool is_done() const override { return described_ && moved_; }
  bool waits_for(int rank) const override { return rank == call().peer; }
  bool is_send(int) const override { return call().operation == Operation::kSend; }
  int peer_of(int) const override { return call().peer; }
  std::vector<int> pending_peers() const override { return {call().peer}; }

 private:
  static constexpr int kDescription = 0;
  static constexpr int kNumbers = 1;

  MessageName name(int part) const;
  Status compare() const;

  std::array<std::byte, kAnnouncementBytes> description_{};
  bool described_ = false;
  bool moved_ = false;
};

}  // namespace cohort::comm
