#pragma once

#include "comm/exchange/exchange.h"
#include "comm/message_passing/announcement.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cohort::comm {

class Inbox;

/// The name of a message within a group; sender and receiver use the same.
struct MessageName {
  Channel channel = Channel::kCollective;
  std::uint64_t number = 0;
  std::uint64_t tag = 0;
  std::uint64_t signature = 0;  ///< of the call: a message of another call is refused
};

/// Identifies a message to its flight once it is done.
struct Ticket {
  std::uint64_t flight = 0;
  int number = 0;
};

/// A group's access to the exchange: by ranks instead of members, and with outcomes in the group's inbox.
///
/// Threads: every method from any thread.
/// Lifetime: the exchange must outlive it; messages in flight share the inbox.
class Line {
 public:
  struct Membership {
    std::uint32_t group = 0;
    std::uint32_t generation = 0;
    std::vector<int> members{};  ///< of the exchange, by rank
    int rank = 0;
  };
  Line(Exchange& exchange, std::shared_ptr<Inbox> inbox, Membership membership);

  int rank() const { return membership_.rank; }
  int size() const { return static_cast<int>(membership_.members.size()); }
  const Membership& membership() const { return membership_; }
  Exchange& exchange() { return exchange_; }
  /// The member of the exchange. Members are numbered as all ranks of the generation, so this is the rank as
  /// errors name it.
  int member(int rank) const { return membership_.members[static_cast<std::size_t>(rank)]; }

  /// `payload` must live until the inbox gets the ticket as Landed.
  void send(int to, const MessageName& name, std::span<const std::byte> payload, Ticket ticket);
  void recv(int from, const MessageName& name, std::span<std::byte> into, Ticket ticket);

  /// Posts the ticket behind the events of all other flights.
  void take_turns(Ticket ticket);

  /// Asks the other ranks how many calls they have made. The answers come as Answered.
  void ask_all(std::uint64_t number);
  void answer(int to, std::uint64_t number, std::uint64_t num_started);
  void notify_all(const Notice& notice);

  /// Lets notices, questions, answers and losses reach the inbox.
  void listen();
  void stop_listening();
  /// Drops all messages of the group: no memory of a call is touched once this has returned.
  void cancel();

 private:
  FrameHeader header(const MessageName& name) const;
  void post(int to, const FrameHeader& header, std::vector<std::byte> payload);
  void listen_on(Channel channel,
                 void (*hear)(Inbox&, int from, const FrameHeader&, std::span<const std::byte>));

  Exchange& exchange_;
  const std::shared_ptr<Inbox> inbox_;
  const Membership membership_;
  int loss_handler_ = 0;
  int end_handler_ = 0;
};

}  // namespace cohort::comm
