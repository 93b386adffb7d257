#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace cohort::comm {

/// What a message is for.
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
  // Between transports only.
  kReceipt,
  kFarewell,
  kStriped,  ///< the heading of a message whose payload comes as stripes: its header
  kStripe,   ///< a part of that payload
};

/// Whether messages of this channel are for whoever uses a transport.
constexpr bool is_for_users(Channel channel) {
  return channel < Channel::kReceipt;
}

/// `collective`, `announce`, …
std::string_view name(Channel channel);

/// What precedes the payload of every message.
struct FrameHeader {
  Channel channel = Channel::kMessage;
  std::uint32_t group = 0;
  std::uint32_t generation = 0;
  std::uint64_t number = 0;     ///< which of the group's calls, requests, …
  std::uint64_t tag = 0;        ///< which message of that call
  std::uint64_t signature = 0;  ///< what the sender believes the call to be
  /// Counts what one member sends to another, from 1; rises, may leave gaps. A message that repeats one is
  /// dropped.
  std::uint64_t sequence = 0;
  std::uint64_t size_bytes = 0;  ///< of the payload

  bool operator==(const FrameHeader&) const = default;
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
// The payload follows; its own checksum is the affair of a transport that needs one.

inline constexpr std::size_t kFrameHeaderBytes = 64;
inline constexpr std::uint8_t kFrameVersion = 1;
/// No payload is longer: what claims to be is not a header.
inline constexpr std::uint64_t kFramePayloadCap = std::uint64_t{1} << 40;

/// Writes the header as it stands on the wire.
void encode(const FrameHeader& header, std::span<std::byte, kFrameHeaderBytes> bytes);
/// Reads one back. kCorrupt for anything encode() of this version would not have written, kUnsupported for
/// another version. `bytes` may be longer than a header; what follows is not looked at.
Result<FrameHeader> decode_frame_header(std::span<const std::byte> bytes);

}  // namespace cohort::comm
