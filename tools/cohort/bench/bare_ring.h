#pragma once

#include "base/descriptor.h"
#include "base/result.h"
#include "comm/communicator.h"

#include <chrono>
#include <span>

namespace cohort::tool {

/// One plain TCP connection from every rank to the next, with nothing of ours on it: what one link carries at
/// best, and what all of them carry at once.
///
/// Threads: one. Every rank of the group makes one.
/// Failure: every read and write has a limit.
class BareRing {
 public:
  static Result<BareRing> open(Communicator& group, const std::vector<std::string>& interfaces);

  /// Seconds for so many bytes from rank 0 to rank 1, as rank 0 sees it; 0 elsewhere.
  Result<double> seconds_of_one(std::size_t size_bytes, std::chrono::nanoseconds limit);
  /// Seconds until this rank has sent so many bytes to the next and has got as many from the one before it.
  Result<double> seconds_of_all(std::size_t size_bytes, std::chrono::nanoseconds limit);

 private:
  BareRing(int rank, Descriptor to_next, Descriptor from_last)
      : rank_(rank), to_next_(std::move(to_next)), from_last_(std::move(from_last)) {}
  Status exchange(std::span<const std::byte> out, std::span<std::byte> in, TimePoint deadline);

  int rank_;
  Descriptor to_next_;
  Descriptor from_last_;
};

}  // namespace cohort::tool
