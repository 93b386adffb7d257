#pragma once

#include "base/result.h"
#include "comm/group/call.h"
#include "comm/schedule/wire_dtype.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cohort::comm {

/// A description of a rank's call, to find out that two ranks disagree and to name both calls.
///
/// In a collective every rank sends its announcement to the next rank and compares that of the previous one:
/// if not all calls are equal, at least one pair differs. In send and receive, the sender announces to the
/// receiver.
struct Announcement {
  Operation operation = Operation::kBarrier;
  DType dtype = DType::kU8;
  ReduceOp reduce_op = ReduceOp::kSum;
  WireDType wire = WireDType::kSame;
  std::uint32_t root = 0;
  std::uint64_t length = 0;       ///< elements, where all ranks must have the same number
  std::uint64_t counts_hash = 0;  ///< of the counts, where all ranks must give the same
  std::uint64_t count = 0;        ///< elements as text() shows them; may differ

  bool agrees_with(const Announcement& other) const;
  /// A hash of the fields that must agree.
  std::uint64_t signature() const;
  /// The call as Call::text() describes it, and the dtype that it is rounded to on the wire.
  std::string text() const;
};

inline constexpr std::size_t kAnnouncementBytes = 32;

/// `wire`: the dtype that numbers of this call are rounded to between hosts.
Announcement announcement_of(const Call& call, int world, WireDType wire = WireDType::kSame);

/// operation u8, dtype u8, reduce_op u8, wire u8, root u32, length u64, counts_hash u64, count u64: little
/// endian.
std::array<std::byte, kAnnouncementBytes> encode(const Announcement& announcement);
Result<Announcement> decode_announcement(std::span<const std::byte> bytes);

/// The message of a rank that has failed or leaves, to all other ranks of its group.
struct Notice {
  enum class Kind : std::uint8_t {
    kFailed,  ///< the group has failed, for this reason
    kLeft,    ///< the rank has destroyed its communicator
  };
  Kind kind = Kind::kFailed;
  /// The rank has done its part in this many calls, counted from the first.
  std::uint64_t num_completed = 0;
  Error why;
};

/// kind u8, num_completed u64, little endian, then the error as in carried_error.h.
std::vector<std::byte> encode(const Notice& notice);
Result<Notice> decode_notice(std::span<const std::byte> bytes);

}  // namespace cohort::comm
