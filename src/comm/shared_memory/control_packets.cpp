#include "comm/shared_memory/control_packets.h"

#include "base/byte_stream.h"
#include "base/error_codes.h"

#include <fmt/format.h>
#include <limits>

namespace cohort::comm {
namespace {

constexpr std::uint64_t kMagic = 0x3174726f686f4331;
constexpr std::uint32_t kVersion = 3;  // goes up with every change of the layouts in control_packets.h

constexpr std::byte kFarewell{1};
constexpr std::byte kAbort{2};
constexpr std::size_t kAbortHead = 1 + sizeof(std::uint64_t) + 1 + sizeof(std::uint32_t);
constexpr auto kRankCap = static_cast<std::uint32_t>(std::numeric_limits<int>::max());
constexpr auto kLastCode = static_cast<std::uint8_t>(kLastErrorCode);

Error corrupt(std::string_view packet, const std::string& what) {
  return {ErrorCode::kCorrupt, fmt::format("corrupt {} packet: {}", packet, what)};
}

}  // namespace

std::array<std::byte, Hello::kSize> Hello::encode() const {
  return ByteWriter()
      .number(kMagic)
      .number(kVersion)
      .number(rank)
      .number(world)
      .number(generation)
      .number(members)
      .number(arena_bytes)
      .take_array<kSize>();
}

Result<Hello> Hello::decode(std::span<const std::byte> bytes) {
  if (bytes.size() != kSize) {
    return corrupt("hello", fmt::format("length {}, expected {}", bytes.size(), kSize));
  }
  ByteReader reader(bytes);
  if (const auto magic = reader.number<std::uint64_t>("magic"); magic != kMagic) {
    return corrupt("hello", fmt::format("magic {:#018x}, expected {:#018x}", magic, kMagic));
  }
  if (const auto version = reader.number<std::uint32_t>("version"); version != kVersion) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("unsupported hello packet: version {}, expected {}", version, kVersion))
        .with_remedy("Start every rank with the same version of Cohort.");
  }
  Hello hello;
  hello.rank = reader.number<std::uint32_t>("rank");
  hello.world = reader.number<std::uint32_t>("world");
  hello.generation = reader.number<std::uint32_t>("generation");
  hello.members = reader.number<std::uint64_t>("members");
  hello.arena_bytes = reader.number<std::uint64_t>("arena_bytes");
  return hello;
}

std::vector<std::byte> encode(const ControlMessage& message) {
  const auto* abort = std::get_if<AbortNotice>(&message);
  if (abort == nullptr) return {kFarewell};
  const std::string_view text = std::string_view(abort->text).substr(0, kControlMessageCap - kAbortHead);
  const std::uint32_t after_rank = abort->about ? static_cast<std::uint32_t>(*abort->about) + 1 : 0;
  return ByteWriter()
      .number(std::to_integer<std::uint8_t>(kAbort))
      .number<std::uint64_t>(abort->group)
      .number(static_cast<std::uint8_t>(abort->code))
      .number(after_rank)
      .bytes(std::as_bytes(std::span(text)))
      .take();
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
  ByteReader reader(bytes.subspan(1));
  AbortNotice abort;
  abort.group = reader.number<std::uint64_t>("group");
  abort.code = static_cast<ErrorCode>(reader.number_within<std::uint8_t>("error code", 0, kLastCode));
  const auto after_rank = reader.number_within<std::uint32_t>("rank", 0, kRankCap);
  COHORT_RETURN_IF_ERROR(reader.mistake("abort packet"));
  if (after_rank > 0) abort.about = static_cast<int>(after_rank - 1);
  abort.text.assign(reinterpret_cast<const char*>(reader.rest().data()), reader.rest().size());
  return ControlMessage(std::move(abort));
}

}  // namespace cohort::comm
