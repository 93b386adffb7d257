#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace cohort::comm {

/// "I leave, in order": what follows is the end of the line.
struct Farewell {};

/// "This group has failed for me."
struct AbortNotice {
  std::uint64_t group = 0;
  ErrorCode code = ErrorCode::kAborted;
  std::string text{};
};

/// What members say over the line between them. One byte of kind, then for an abort: group 8 | code 1 | text.
using LineMessage = std::variant<Farewell, AbortNotice>;
inline constexpr std::size_t kLineMessageCap = 4096;

std::vector<std::byte> encode(const LineMessage& message);
Result<LineMessage> decode_line_message(std::span<const std::byte> bytes);

}  // namespace cohort::comm
