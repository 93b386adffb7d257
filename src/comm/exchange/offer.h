#pragma once

#include "base/result.h"
#include "comm/transport/frame.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cohort::comm {

/// A message that its sender holds back until the receiver calls for it, as the receiver may have no memory
/// to keep it. Without a message: a question how much memory is left, or the end of an earlier offer.
struct MessageOffer {
  std::uint64_t ticket = 0;              ///< of the message, from 1; 0: only a question
  std::uint64_t num_sent = 0;            ///< bytes that the sender has sent without offering them first
  std::optional<FrameHeader> message{};  ///< empty with a ticket: the sender has cancelled that message
};

/// The answer to an offer, at once or later.
struct OfferAnswer {
  enum class Verdict : std::uint8_t {
    kLater,  ///< no receive is waiting: another answer with this ticket follows
    kSend,   ///< a receive is waiting
    kDrop,   ///< the group is over: the message is not needed
  };
  std::uint64_t ticket = 0;
  Verdict verdict = Verdict::kLater;
  /// num_sent of the last offer from this sender. Messages that it sent before count in `room_bytes`.
  std::uint64_t num_sent = 0;
  std::uint64_t room_bytes = 0;  ///< for further messages that no receive is waiting for
};

/// No encoded offer or answer is longer.
inline constexpr std::size_t kOfferBytesCap = 16 + kFrameHeaderBytes;

/// ticket u64, num_sent u64, little endian, then the header of the message, if there is one.
std::vector<std::byte> encode(const MessageOffer& offer);
Result<MessageOffer> decode_offer(std::span<const std::byte> bytes);
/// ticket u64, verdict u8, num_sent u64, room_bytes u64, little endian.
std::vector<std::byte> encode(const OfferAnswer& answer);
Result<OfferAnswer> decode_offer_answer(std::span<const std::byte> bytes);

}  // namespace cohort::comm
