#pragma once

#include "comm/transport/frame.h"

namespace cohort::ucx {

/// What precedes every payload: who sends it, which of its messages to us it is, and the frame's own header.
struct Envelope {
  std::uint32_t from = 0;
  /// From 1 without gaps, in the order of the sender; 0: out of order, at once.
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
/// kCorrupt for anything encode() would not have written, kUnsupported for another version of the frame.
Result<Envelope> decode_envelope(std::span<const std::byte> bytes);

}  // namespace cohort::ucx
