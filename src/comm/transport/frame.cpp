#include "comm/transport/frame.h"

#include "base/checksum.h"

#include <array>
#include <bit>
#include <cstring>
#include <fmt/format.h>

namespace cohort::comm {
namespace {

static_assert(std::endian::native == std::endian::little, "the wire is little endian");

constexpr std::uint32_t kMagic = 0x46484f43;
constexpr std::size_t kChecked = kFrameHeaderBytes - sizeof(std::uint32_t);

constexpr std::array<std::string_view, 13> kChannelNames = {
    "collective", "announce", "message", "request",  "reply",   "query", "answer",
    "alive",      "abort",    "receipt", "farewell", "striped", "stripe"};

template <class T>
void put(std::span<std::byte, kFrameHeaderBytes> bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

template <class T>
T get(std::span<const std::byte> bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

Error corrupt(std::string words) {
  return Error(ErrorCode::kCorrupt, std::move(words)).within("corrupt frame header");
}

}  // namespace

std::string_view name(Channel channel) {
  return kChannelNames[static_cast<std::size_t>(channel)];
}

void encode(const FrameHeader& header, std::span<std::byte, kFrameHeaderBytes> bytes) {
  std::memset(bytes.data(), 0, bytes.size());
  put(bytes, 0, kMagic);
  put(bytes, 4, kFrameVersion);
  put(bytes, 5, static_cast<std::uint8_t>(header.channel));
  put(bytes, 8, header.group);
  put(bytes, 12, header.generation);
  put(bytes, 16, header.number);
  put(bytes, 24, header.tag);
  put(bytes, 32, header.signature);
  put(bytes, 40, header.sequence);
  put(bytes, 48, header.size_bytes);
  put(bytes, kChecked, crc32c(bytes.first(kChecked)));
}

Result<FrameHeader> decode_frame_header(std::span<const std::byte> bytes) {
  if (bytes.size() < kFrameHeaderBytes) {
    return corrupt(fmt::format("length is {}, expected {}", bytes.size(), kFrameHeaderBytes));
  }
  if (const auto magic = get<std::uint32_t>(bytes, 0); magic != kMagic) {
    return corrupt(fmt::format("field magic is {:#010x}, expected {:#010x}", magic, kMagic));
  }
  const std::uint32_t expected = crc32c(bytes.first(kChecked));
  if (const auto checksum = get<std::uint32_t>(bytes, kChecked); checksum != expected) {
    return corrupt(fmt::format("field checksum is {:#010x}, expected {:#010x}", checksum, expected));
  }
  if (const auto version = get<std::uint8_t>(bytes, 4); version != kFrameVersion) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("frame header: field version is {}, expected {}", version, kFrameVersion))
        .with_remedy("Run the same version of Cohort on every member.");
  }
  const auto channel = get<std::uint8_t>(bytes, 5);
  if (channel >= kChannelNames.size()) {
    return corrupt(fmt::format("field channel is {}, expected 0 … {}", channel, kChannelNames.size() - 1));
  }
  const std::uint32_t reserved = get<std::uint16_t>(bytes, 6) | get<std::uint32_t>(bytes, 56);
  if (reserved != 0) return corrupt(fmt::format("a reserved field is {:#x}, expected 0", reserved));
  const FrameHeader header = {.channel = static_cast<Channel>(channel),
                              .group = get<std::uint32_t>(bytes, 8),
                              .generation = get<std::uint32_t>(bytes, 12),
                              .number = get<std::uint64_t>(bytes, 16),
                              .tag = get<std::uint64_t>(bytes, 24),
                              .signature = get<std::uint64_t>(bytes, 32),
                              .sequence = get<std::uint64_t>(bytes, 40),
                              .size_bytes = get<std::uint64_t>(bytes, 48)};
  if (header.size_bytes > kFramePayloadCap) {
    return corrupt(
        fmt::format("field size_bytes is {}, expected {} or less", header.size_bytes, kFramePayloadCap));
  }
  return header;
}

}  // namespace cohort::comm
