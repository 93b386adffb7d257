#pragma once

#include "base/result.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

// Packets on the control socket between two members of one host, little endian. The first packet in each
// direction is a Hello; every later one is a ControlMessage.

namespace cohort::comm {

/// The sender of a new connection and the size of its arena. The descriptor of the arena travels with this
/// packet.
struct Hello {
  std::uint32_t rank = 0;
  std::uint32_t world = 0;
  std::uint32_t generation = 0;
  std::uint64_t members = 0;  ///< a checksum of the list of members
  std::uint64_t arena_bytes = 0;

  // magic 8 | version 4 | rank 4 | world 4 | generation 4 | members 8 | arena_bytes 8
  static constexpr std::size_t kSize = 40;
  std::array<std::byte, kSize> encode() const;
  /// kCorrupt for a wrong length or magic, kUnsupported for another version.
  static Result<Hello> decode(std::span<const std::byte> bytes);
};

/// The sender leaves in order and will close the socket: its end is not a failure.
struct Farewell {};

/// The group has failed on the sender's side.
struct AbortNotice {
  std::uint64_t group = 0;
  ErrorCode code = ErrorCode::kAborted;
  std::optional<int> about{};  ///< the rank that is lost or late
  std::string text{};
};

/// kind 1; an AbortNotice goes on with group 8 | code 1 | 1 + the rank it is about, 0 for no rank 4 |
/// text to the end of the packet.
using ControlMessage = std::variant<Farewell, AbortNotice>;
inline constexpr std::size_t kControlMessageCap = 4096;  ///< bytes of a whole packet; longer texts are cut

std::vector<std::byte> encode(const ControlMessage& message);
/// kCorrupt for everything that encode() would not have written.
Result<ControlMessage> decode_control_message(std::span<const std::byte> bytes);

}  // namespace cohort::comm
