#pragma once

#include "comm/message_passing/any_rank_matcher.h"
#include "comm/message_passing/flight.h"

#include <optional>

namespace cohort::comm {

/// A send or a receive in flight: the sender's description goes first, so that a receiver that expects
/// another count or dtype can say so; then the numbers. A long message waits for the receiver's clearance: it
/// is never an unexpected message that must be kept.
class MessageFlight final : public Flight {
 public:
  explicit MessageFlight(Facts facts);

  void begin(Line& line) override;
  Status landed(Line& line, int ticket) override;
  /// For a receive with an AnyRankMatcher: its message is `announced`.
  Status begins(Line& line, const AnyRankMatcher::Announced& announced);
  bool is_done() const override { return described_ && moved_; }
  bool waits_for(int rank) const override { return rank == peer_; }
  bool is_send(int) const override { return call().operation == Operation::kSend; }
  int peer_of(int) const override { return peer_; }
  std::vector<int> pending_peers() const override;

 private:
  MessageName name(int part) const { return message_name(call().tag, number_, part); }
  Status described(Line& line);
  void send_numbers(Line& line);
  void receive_numbers(Line& line, std::size_t count);

  int peer_;
  std::uint64_t number_;
  AnyRankMatcher::Description description_{};
  bool described_ = false;
  bool moved_ = false;
};

}  // namespace cohort::comm
