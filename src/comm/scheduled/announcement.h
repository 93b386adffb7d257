#pragma once

#include "comm/call.h"
#include "comm/schedule/wire_dtype.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace cohort::comm {

/// What a rank says about a call it makes: enough to find out that two ranks disagree, and to name both
/// calls.
///
/// In a collective every rank tells the next one and hears from the one before: if not all are equal, at
/// least one pair differs. Of send and receive the sender tells the receiver.
struct Announcement {
  Operation operation = Operation::kBarrier;
  DType dtype = DType::kU8;
  ReduceOp reduce_op = ReduceOp::kSum;
  WireDType wire = WireDType::kSame;
  std::uint32_t root = 0;
  std::uint64_t length = 0;       ///< elements, where all ranks must have the same number
  std::uint64_t counts_hash = 0;  ///< of the counts, where all ranks must have the same
  std::uint64_t count = 0;        ///< elements as text() shows them; need not agree

  bool agrees_with(const Announcement& other) const;
  /// A hash of what must agree.
  std::uint64_t signature() const;
  /// The call in words, as Call::text(), and what it is rounded to on the wire.
  std::string text() const;
};

inline constexpr std::size_t kAnnouncementBytes = 32;

/// `wire` is what numbers of this call are rounded to between hosts.
Announcement announcement_of(const Call& call, int world, WireDType wire = WireDType::kSame);

/// operation u8, dtype u8, reduce_op u8, wire u8, root u32, length u64, counts_hash u64, count u64: little
/// endian.
std::array<std::byte, kAnnouncementBytes> encode(const Announcement& announcement);
Result<Announcement> decode_announcement(std::span<const std::byte> bytes);

}  // namespace cohort::comm
