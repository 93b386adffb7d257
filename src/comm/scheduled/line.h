#pragma once

#include "comm/exchange.h"
#include "comm/scheduled/notice.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cohort::comm {

class Inbox;

/// Which message of a group's calls; both ends say the same.
struct MessageName {
  Channel channel = Channel::kCollective;
  std::uint64_t number = 0;
  std::uint64_t tag = 0;
  std::uint64_t signature = 0;  ///< of the call: a message of another call is refused
};

/// Who gets to know that a message is through.
struct Ticket {
  std::uint64_t flight = 0;
  int number = 0;
};

/// A group's way to the exchange: ranks instead of members, and what happens is left in the group's inbox.
///
/// Threads: every method from any thread.
/// Lifetime: the exchange must outlive it; the inbox is shared with what is under way.
class Line {
 public:
  struct Place {
    std::uint32_t group = 0;
    std::uint32_t generation = 0;
    std::vector<int> members{};  ///< of the exchange, by rank
    int rank = 0;
  };
  Line(Exchange& exchange, std::shared_ptr<Inbox> inbox, Place place);

  int rank() const { return place_.rank; }
  int world() const { return static_cast<int>(place_.members.size()); }
  const Place& place() const { return place_; }
  Exchange& exchange() { return exchange_; }

  /// `payload` must live until the ticket lands.
  void send(int to, const MessageName& name, std::span<const std::byte> payload, Ticket ticket);
  void receive(int from, const MessageName& name, std::span<std::byte> into, Ticket ticket);

  /// Lands the ticket when everybody else had a turn.
  void take_turns(Ticket ticket);

  /// How many calls has each of the others made? The answers come as Answered.
  void ask_all(std::uint64_t number);
  void answer(int to, std::uint64_t number, std::uint64_t num_started);
  void notify_all(const Notice& notice);

  /// From now on notices, questions, answers and losses reach the inbox.
  void listen();
  void stop_listening();
  /// Forgets every message of the group: no memory of a call is touched any more.
  void cancel();

 private:
  FrameHeader header(const MessageName& name) const;
  int member(int rank) const { return place_.members[static_cast<std::size_t>(rank)]; }
  void post(int to, const FrameHeader& header, std::vector<std::byte> payload);
  void listen_on(Channel channel,
                 void (*hear)(Inbox&, int from, const FrameHeader&, std::span<const std::byte>));

  Exchange& exchange_;
  const std::shared_ptr<Inbox> inbox_;
  const Place place_;
  int loss_handler_ = 0;
};

}  // namespace cohort::comm
