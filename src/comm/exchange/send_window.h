#pragma once

#include "comm/exchange/matching.h"
#include "comm/exchange/offer.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace cohort::comm {

/// Whether the receiver matches messages of this channel with receives, and so may call for them. Messages to
/// handlers, failure notices and signs of life are never held back.
constexpr bool can_be_held(Channel channel) {
  return channel <= Channel::kMessage;
}

/// Decides which messages to one member are sent at once, and holds the others until the member calls for
/// them: together, the messages that are sent at once fit into the memory that the member has for messages
/// without a receive.
///
/// Threads: one at a time.
/// Lifetime: the payload of a held message must live until answered() or end() returns the message, or
/// forget() drops it.
/// Cost: a few additions for a message that is sent at once; one question for every half of the room. A held
/// message costs a round trip, which begins when its receive starts.
class SendWindow {
 public:
  struct Send {
    FrameHeader header{};
    std::span<const std::byte> payload{};
    std::function<void(const Status&)> done{};
  };

  /// `room_bytes`: the least that the member has, known before its first answer.
  explicit SendWindow(std::uint64_t room_bytes) : room_bytes_(room_bytes) {}

  /// Whether the message may be sent at once; it is counted then. Messages with equal keys stay in order.
  bool admits(const FrameHeader& header);
  /// Holds a message that is not admitted, and returns the offer to send instead.
  MessageOffer hold(Send send);
  /// A question to send ahead of need, once half of the room may be used.
  std::optional<MessageOffer> question();
  /// Returns the message that the answer is about, if it is no longer held.
  std::optional<Send> answered(const OfferAnswer& answer);
  /// Drops the held messages of this group up to this generation. Returns the offers that end thereby.
  std::vector<MessageOffer> forget(std::uint32_t group, std::uint32_t generation);
  /// The member is lost, or this one leaves: returns what is held, and admits every message from now on.
  std::vector<Send> end();

 private:
  std::uint64_t num_sent_ = 0;    // bytes admitted
  std::uint64_t num_judged_ = 0;  // num_sent_ when room_bytes_ was right
  std::uint64_t room_bytes_;
  bool is_asked_ = false;  // an offer is in flight, whose answer tells the room
  bool is_over_ = false;
  std::uint64_t num_tickets_ = 0;
  std::map<std::uint64_t, Send> held_;  // by ticket
};

}  // namespace cohort::comm
