#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace cohort::comm {

/// The purpose of a message.
enum class Channel : std::uint8_t {
  kCollective,
  kAnnounce,
  kMessage,
  kRequest,
  kReply,
  kQuery,
  kAnswer,
  kAlive,
  kAbort,
  kOffer,    ///< a message that its sender holds back (comm/exchange/offer.h)
  kCallFor,  ///< the answer to an offer
  // Used between transports only.
  kReceipt,
  kFarewell,
  kStriped,  ///< announces a message whose payload comes in stripes; the payload is that message's header
  kStripe,   ///< a part of such a payload
};

/// Whether messages of this channel reach the user of a transport.
constexpr bool is_for_users(Channel channel) {
  return channel < Channel::kReceipt;
}

/// `collective`, `announce`, …
std::string_view name(Channel channel);

/// The header that precedes the payload of every message.
struct FrameHeader {
  Channel channel = Channel::kMessage;
  std::uint32_t group = 0;
  std::uint32_t generation = 0;
  std::uint64_t number = 0;     ///< of the call or request, within the group
  std::uint64_t tag = 0;        ///< of the message, within the call
  std::uint64_t signature = 0;  ///< a hash of the sender's arguments of the call
  /// Numbers the messages from one member to another, from 1, rising, perhaps with gaps. A message with a
  /// number that has been seen is dropped.
  std::uint64_t sequence = 0;
  std::uint64_t size_bytes = 0;  ///< length of the payload

  bool operator==(const FrameHeader&) const = default;
  /// Whether the message belongs to this group, and to this generation or an earlier one.
  bool is_of(std::uint32_t other_group, std::uint32_t newest_generation) const {
    return group == other_group && generation <= newest_generation;
  }
};

// On the wire a header is 64 bytes, little endian, without padding:
//
//   offset  width  field
//        0      4  magic 0x46484f43 ("COHF")
//        4      1  version, 1
//        5      1  channel
//        6      2  zero
//        8      4  group
//       12      4  generation
//       16      8  number
//       24      8  tag
//       32      8  signature
//       40      8  sequence
//       48      8  size_bytes
//       56      4  zero
//       60      4  CRC-32C of bytes 0 … 59
//
// The payload follows. A transport that needs a checksum of the payload adds one.

inline constexpr std::size_t kFrameHeaderBytes = 64;
inline constexpr std::uint8_t kFrameVersion = 1;
/// No payload is longer: a header with a longer one is corrupt.
inline constexpr std::uint64_t kFramePayloadCap = std::uint64_t{1} << 40;

/// Writes the header in the format of the wire.
void encode(const FrameHeader& header, std::span<std::byte, kFrameHeaderBytes> bytes);
/// Reads a header. kCorrupt for bytes that encode() does not write, kUnsupported for another version. Bytes
/// behind the header are ignored.
Result<FrameHeader> decode_frame_header(std::span<const std::byte> bytes);

}  // namespace cohort::comm
