#pragma once

#include "net/assembly.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace cohort::net {

/// What a lane leaves to the link it is one of.
///
/// Threads: called by the one that advances, without the station's lock.
class LaneOwner {
 public:
  virtual ~LaneOwner() = default;

  /// Where what comes in is left.
  virtual Assembly& assembly() = 0;
  /// Something came.
  virtual void heard() = 0;
  /// Tells the other side how many bytes of its stream in this lane are here.
  virtual void send_receipt(std::size_t lane, std::uint64_t num_taken) = 0;
  /// The other side has told so of ours.
  virtual Status receipt_came(const comm::FrameHeader& receipt) = 0;

  /// Of the other member, once one of the lanes has met it: all must meet the same.
  virtual std::optional<std::uint64_t>& session() = 0;
};

}  // namespace cohort::net
