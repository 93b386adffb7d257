#include "comm/transport/frame.h"

#include "base/byte_stream.h"
#include "base/checksum.h"

#include <array>
#include <cstring>
#include <fmt/format.h>

namespace cohort::comm {
namespace {

constexpr std::uint32_t kMagic = 0x46484f43;
constexpr std::size_t kChecked = kFrameHeaderBytes - sizeof(std::uint32_t);

constexpr std::array<std::string_view, 15> kChannelNames = {
    "collective", "announce", "message",  "request", "reply",    "query",   "answer", "alive",
    "abort",      "offer",    "call_for", "receipt", "farewell", "striped", "stripe"};

Error corrupt(std::string words) {
  return Error(ErrorCode::kCorrupt, std::move(words)).within("corrupt frame header");
}

}  // namespace

std::string_view name(Channel channel) {
  return kChannelNames[static_cast<std::size_t>(channel)];
}

void encode(const FrameHeader& header, std::span<std::byte, kFrameHeaderBytes> bytes) {
  std::memset(bytes.data(), 0, bytes.size());
  put_at(bytes, 0, kMagic);
  put_at(bytes, 4, kFrameVersion);
  put_at(bytes, 5, static_cast<std::uint8_t>(header.channel));
  put_at(bytes, 8, header.group);
  put_at(bytes, 12, header.generation);
  put_at(bytes, 16, header.number);
  put_at(bytes, 24, header.tag);
  put_at(bytes, 32, header.signature);
  put_at(bytes, 40, header.sequence);
  put_at(bytes, 48, header.size_bytes);
  put_at(bytes, kChecked, crc32c(bytes.first(kChecked)));
}

Result<FrameHeader> decode_frame_header(std::span<const std::byte> bytes) {
  if (bytes.size() < kFrameHeaderBytes) {
    return corrupt(fmt::format("length is {}, expected {}", bytes.size(), kFrameHeaderBytes));
  }
  if (const auto magic = get_at<std::uint32_t>(bytes, 0); magic != kMagic) {
    return corrupt(fmt::format("field magic is {:#010x}, expected {:#010x}", magic, kMagic));
  }
  const std::uint32_t expected = crc32c(bytes.first(kChecked));
  if (const auto checksum = get_at<std::uint32_t>(bytes, kChecked); checksum != expected) {
    return corrupt(fmt::format("field checksum is {:#010x}, expected {:#010x}", checksum, expected));
  }
  if (const auto version = get_at<std::uint8_t>(bytes, 4); version != kFrameVersion) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("frame header: field version is {}, expected {}", version, kFrameVersion))
        .with_remedy("Run the same version of Cohort on every member.");
  }
  const auto channel = get_at<std::uint8_t>(bytes, 5);
  if (channel >= kChannelNames.size()) {
    return corrupt(fmt::format("field channel is {}, expected 0 … {}", channel, kChannelNames.size() - 1));
  }
  const std::uint32_t reserved = get_at<std::uint16_t>(bytes, 6) | get_at<std::uint32_t>(bytes, 56);
  if (reserved != 0) return corrupt(fmt::format("a reserved field is {:#x}, expected 0", reserved));
  const FrameHeader header = {.channel = static_cast<Channel>(channel),
                              .group = get_at<std::uint32_t>(bytes, 8),
                              .generation = get_at<std::uint32_t>(bytes, 12),
                              .number = get_at<std::uint64_t>(bytes, 16),
                              .tag = get_at<std::uint64_t>(bytes, 24),
                              .signature = get_at<std::uint64_t>(bytes, 32),
                              .sequence = get_at<std::uint64_t>(bytes, 40),
                              .size_bytes = get_at<std::uint64_t>(bytes, 48)};
  if (header.size_bytes > kFramePayloadCap) {
    return corrupt(
        fmt::format("field size_bytes is {}, expected {} or less", header.size_bytes, kFramePayloadCap));
  }
  return header;
}

}  // namespace cohort::comm
