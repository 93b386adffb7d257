#include "comm/shared_memory/line_message.h"

#include <algorithm>
#include <cstring>

namespace cohort::comm {
namespace {

constexpr std::byte kFarewell{1};
constexpr std::byte kAbort{2};
constexpr std::size_t kAbortHead = 1 + sizeof(std::uint64_t) + 1;
constexpr auto kLastCode = static_cast<std::uint8_t>(ErrorCode::kIo);

}  // namespace

std::vector<std::byte> encode(const LineMessage& message) {
  const auto* abort = std::get_if<AbortNotice>(&message);
  if (abort == nullptr) return {kFarewell};
  const std::size_t text_bytes = std::min(abort->text.size(), kLineMessageCap - kAbortHead);
  std::vector<std::byte> bytes(kAbortHead + text_bytes);
  bytes[0] = kAbort;
  std::memcpy(bytes.data() + 1, &abort->group, sizeof abort->group);
  bytes[kAbortHead - 1] = static_cast<std::byte>(abort->code);
  std::memcpy(bytes.data() + kAbortHead, abort->text.data(), text_bytes);
  return bytes;
}

Result<LineMessage> decode_line_message(std::span<const std::byte> bytes) {
  if (bytes.size() == 1 && bytes[0] == kFarewell) return LineMessage(Farewell{});
  if (bytes.size() < kAbortHead || bytes[0] != kAbort) {
    return Error(ErrorCode::kCorrupt, "a message between neighbours that is none");
  }
  AbortNotice abort;
  std::memcpy(&abort.group, bytes.data() + 1, sizeof abort.group);
  const auto code = static_cast<std::uint8_t>(bytes[kAbortHead - 1]);
  if (code > kLastCode) return Error(ErrorCode::kCorrupt, "an abort with an unknown code");
  abort.code = static_cast<ErrorCode>(code);
  abort.text.assign(reinterpret_cast<const char*>(bytes.data()) + kAbortHead, bytes.size() - kAbortHead);
  return LineMessage(std::move(abort));
}

}  // namespace cohort::comm
