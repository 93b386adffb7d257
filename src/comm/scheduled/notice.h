#pragma once

#include "base/result.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cohort::comm {

/// What a rank tells all others of its group when it will not go on.
struct Notice {
  enum class Kind : std::uint8_t {
    kFailed,  ///< the group is over, for this reason
    kLeft,    ///< this rank takes part no more
  };
  Kind kind = Kind::kFailed;
  std::uint64_t num_completed = 0;  ///< the rank has done its part in that many calls from the first on
  Error why;
};

/// kind u8, num_completed u64, little endian, then the error as it is carried.
std::vector<std::byte> encode(const Notice& notice);
Result<Notice> decode_notice(std::span<const std::byte> bytes);

}  // namespace cohort::comm
