#pragma once

#include "comm/scheduled/ears.h"
#include "comm/scheduled/flight.h"

#include <optional>

namespace cohort::comm {

/// A send or a receive under way: a description goes first, the numbers follow, so that the receiver can tell
/// what is wrong if it expects something else. Many numbers follow only when the receiver says that it has
/// room for them: nobody has to keep what is not asked for yet.
class MessageFlight final : public Flight {
 public:
  explicit MessageFlight(Facts facts);

  void begin(Line& line) override;
  Status landed(Line& line, int ticket) override;
  /// Of a receive that waits at ears: its message begins.
  Status begins(Line& line, const Ears::Heard& heard);
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
  Ears::Description description_{};
  bool described_ = false;
  bool moved_ = false;
};

}  // namespace cohort::comm
