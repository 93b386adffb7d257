#include "comm/shared_memory/control_packets.h"

#include "base/error_codes.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <limits>

namespace cohort::comm {
namespace {

constexpr std::uint64_t kMagic = 0x3174726f686f4331;
constexpr std::uint32_t kVersion = 2;  // goes up with every change of the layouts in control_packets.h

constexpr std::byte kFarewell{1};
constexpr std::byte kAbort{2};
constexpr std::size_t kCodeOffset = 1 + sizeof(std::uint64_t);
constexpr std::size_t kRankOffset = kCodeOffset + 1;
constexpr std::size_t kAbortHead = kRankOffset + sizeof(std::uint32_t);
constexpr auto kRankCap = static_cast<std::uint32_t>(std::numeric_limits<int>::max());
constexpr auto kLastCode = static_cast<std::uint8_t>(kLastErrorCode);

// Both ends are on this host, so fields are copied as they lie in memory.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

template <class T>
void put(std::byte*& at, T value) {
  std::memcpy(at, &value, sizeof value);
  at += sizeof value;
}

template <class T>
T take(const std::byte*& at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  at += sizeof value;
  return value;
}

Error corrupt(std::string_view packet, const std::string& what) {
  return {ErrorCode::kCorrupt, fmt::format("corrupt {} packet: {}", packet, what)};
}

}  // namespace

std::array<std::byte, Hello::kSize> Hello::encode() const {
  std::array<std::byte, kSize> bytes{};
  std::byte* at = bytes.data();
  put(at, kMagic);
  put(at, kVersion);
  put(at, rank);
  put(at, world);
  put(at, generation);
  put(at, arena_bytes);
  return bytes;
}

Result<Hello> Hello::decode(std::span<const std::byte> bytes) {
  if (bytes.size() != kSize) {
    return corrupt("hello", fmt::format("length {}, expected {}", bytes.size(), kSize));
  }
  const std::byte* at = bytes.data();
  if (const auto magic = take<std::uint64_t>(at); magic != kMagic) {
    return corrupt("hello", fmt::format("magic {:#018x}, expected {:#018x}", magic, kMagic));
  }
  if (const auto version = take<std::uint32_t>(at); version != kVersion) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("unsupported hello packet: version {}, expected {}", version, kVersion))
        .with_remedy("Start every rank with the same version of Cohort.");
  }
  Hello hello;
  hello.rank = take<std::uint32_t>(at);
  hello.world = take<std::uint32_t>(at);
  hello.generation = take<std::uint32_t>(at);
  hello.arena_bytes = take<std::uint64_t>(at);
  return hello;
}

std::vector<std::byte> encode(const ControlMessage& message) {
  const auto* abort = std::get_if<AbortNotice>(&message);
  if (abort == nullptr) return {kFarewell};
  const std::size_t text_bytes = std::min(abort->text.size(), kControlMessageCap - kAbortHead);
  std::vector<std::byte> bytes(kAbortHead + text_bytes);
  bytes[0] = kAbort;
  std::memcpy(bytes.data() + 1, &abort->group, sizeof abort->group);
  bytes[kCodeOffset] = static_cast<std::byte>(abort->code);
  const std::uint32_t after_rank = abort->about ? static_cast<std::uint32_t>(*abort->about) + 1 : 0;
  std::memcpy(bytes.data() + kRankOffset, &after_rank, sizeof after_rank);
  std::memcpy(bytes.data() + kAbortHead, abort->text.data(), text_bytes);
  return bytes;
}

Result<ControlMessage> decode_control_message(std::span<const std::byte> bytes) {
  if (bytes.empty()) return corrupt("control", "length 0, expected at least 1");
  if (bytes[0] == kFarewell) {
    if (bytes.size() == 1) return ControlMessage(Farewell{});
    return corrupt("farewell", fmt::format("length {}, expected 1", bytes.size()));
  }
  if (bytes[0] != kAbort) {
    return corrupt("control", fmt::format("kind {}, expected {} (farewell) or {} (abort)", int(bytes[0]),
                                          int(kFarewell), int(kAbort)));
  }
  if (bytes.size() < kAbortHead) {
    return corrupt("abort", fmt::format("length {}, expected at least {}", bytes.size(), kAbortHead));
  }
  AbortNotice abort;
  std::memcpy(&abort.group, bytes.data() + 1, sizeof abort.group);
  const auto code = static_cast<std::uint8_t>(bytes[kCodeOffset]);
  if (code > kLastCode) {
    return corrupt("abort", fmt::format("error code {}, expected 0 to {}", code, kLastCode));
  }
  abort.code = static_cast<ErrorCode>(code);
  std::uint32_t after_rank = 0;
  std::memcpy(&after_rank, bytes.data() + kRankOffset, sizeof after_rank);
  if (after_rank > kRankCap) {
    return corrupt("abort", fmt::format("rank {}, expected at most {}", after_rank - 1, kRankCap - 1));
  }
  if (after_rank > 0) abort.about = static_cast<int>(after_rank - 1);
  abort.text.assign(reinterpret_cast<const char*>(bytes.data()) + kAbortHead, bytes.size() - kAbortHead);
  return ControlMessage(std::move(abort));
}

}  // namespace cohort::comm
