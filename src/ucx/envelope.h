#pragma once

#include "comm/transport/frame.h"

namespace cohort::ucx {

/// Precedes every payload: the sender, the number of the message among those of this sender to this receiver,
/// and the frame header.
struct Envelope {
  std::uint32_t from = 0;
  /// Counts from 1 without gaps, in the order of sending; 0: out of order, to be handled at once.
  std::uint64_t number = 0;
  comm::FrameHeader frame{};

  bool operator==(const Envelope&) const = default;
};

// On the wire, little endian:
//
//   offset  width  field
//        0      4  magic 0x58484f43 ("COHX")
//        4      4  from
//        8      8  number
//       16     64  header of the frame

inline constexpr std::size_t kEnvelopeBytes = 16 + comm::kFrameHeaderBytes;

void encode(const Envelope& envelope, std::span<std::byte, kEnvelopeBytes> bytes);
/// kCorrupt for everything that encode() would not have written, kUnsupported for another frame version.
Result<Envelope> decode_envelope(std::span<const std::byte> bytes);

}  // namespace cohort::ucx
