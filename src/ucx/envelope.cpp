#include "ucx/envelope.h"

#include <cstring>
#include <fmt/format.h>

namespace cohort::ucx {
namespace {

constexpr std::uint32_t kMagic = 0x58484f43;
constexpr std::size_t kFrameAt = kEnvelopeBytes - comm::kFrameHeaderBytes;

}  // namespace

void encode(const Envelope& envelope, std::span<std::byte, kEnvelopeBytes> bytes) {
  std::memcpy(bytes.data(), &kMagic, sizeof kMagic);
  std::memcpy(bytes.data() + 4, &envelope.from, sizeof envelope.from);
  std::memcpy(bytes.data() + 8, &envelope.number, sizeof envelope.number);
  comm::encode(envelope.frame, bytes.subspan<kFrameAt>());
}

Result<Envelope> decode_envelope(std::span<const std::byte> bytes) {
  std::uint32_t magic = 0;
  if (bytes.size() != kEnvelopeBytes) {
    return Error(ErrorCode::kCorrupt, fmt::format("corrupt envelope of a UCX message: length {}, expected {}",
                                                  bytes.size(), kEnvelopeBytes));
  }
  std::memcpy(&magic, bytes.data(), sizeof magic);
  if (magic != kMagic) {
    return Error(
        ErrorCode::kCorrupt,
        fmt::format("corrupt envelope of a UCX message: magic {:#010x}, expected {:#010x}", magic, kMagic));
  }
  Envelope envelope;
  std::memcpy(&envelope.from, bytes.data() + 4, sizeof envelope.from);
  std::memcpy(&envelope.number, bytes.data() + 8, sizeof envelope.number);
  COHORT_ASSIGN_OR_RETURN(envelope.frame, comm::decode_frame_header(bytes.subspan(kFrameAt)));
  return envelope;
}

}  // namespace cohort::ucx
