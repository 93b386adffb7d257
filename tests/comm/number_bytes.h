#pragma once

#include "comm/group/mailbox.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

namespace cohort::test {

/// A number as a request or a reply.
inline Bytes bytes_of(std::uint64_t value) {
  Bytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

inline std::uint64_t value_of(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}

}  // namespace cohort::test
