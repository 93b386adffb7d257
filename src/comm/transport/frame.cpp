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

constexpr std::array<std::string_view, 13> kNames = {
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
  return Error(ErrorCode::kCorrupt, std::move(words)).within("the header of a message cannot be read");
}

}  // namespace

std::string_view name(Channel channel) {
  return kNames[static_cast<std::size_t>(channel)];
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
    return corrupt(fmt::format("it ends after {} of {} bytes", bytes.size(), kFrameHeaderBytes));
  }
  if (get<std::uint32_t>(bytes, 0) != kMagic) return corrupt("it does not begin as one");
  if (get<std::uint32_t>(bytes, kChecked) != crc32c(bytes.first(kChecked))) {
    return corrupt("its checksum is wrong");
  }
  if (const auto version = get<std::uint8_t>(bytes, 4); version != kFrameVersion) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("a message has format {}, this program speaks {}", version, kFrameVersion))
        .with_remedy("Run the same version of Cohort on every member.");
  }
  const auto channel = get<std::uint8_t>(bytes, 5);
  if (channel >= kNames.size()) return corrupt(fmt::format("there is no channel {}", channel));
  if (get<std::uint16_t>(bytes, 6) != 0 || get<std::uint32_t>(bytes, 56) != 0) {
    return corrupt("what must be zero is not");
  }
  const FrameHeader header = {.channel = static_cast<Channel>(channel),
                              .group = get<std::uint32_t>(bytes, 8),
                              .generation = get<std::uint32_t>(bytes, 12),
                              .number = get<std::uint64_t>(bytes, 16),
                              .tag = get<std::uint64_t>(bytes, 24),
                              .signature = get<std::uint64_t>(bytes, 32),
                              .sequence = get<std::uint64_t>(bytes, 40),
                              .size_bytes = get<std::uint64_t>(bytes, 48)};
  if (header.size_bytes > kFramePayloadCap) {
    return corrupt(fmt::format("a payload of {} bytes is longer than any", header.size_bytes));
  }
  return header;
}

}  // namespace cohort::comm
