#pragma once

#include "base/descriptor.h"
#include "base/result.h"
#include "comm/group/communicator.h"

#include <chrono>
#include <span>

namespace cohort::tool {

/// Bytes that were sent, or received, over a non-blocking plain socket; 0: it would block.
Result<std::size_t> send_some(const Descriptor& socket, std::span<const std::byte> bytes);
Result<std::size_t> receive_some(const Descriptor& socket, std::span<std::byte> room);

/// One plain TCP connection from every rank to the next: the upper limit for one link, and for all links at
/// the same time.
///
/// Threads: one. Every rank of the group creates one.
/// Failure: every read and write has a deadline.
class BareRing {
 public:
  static Result<BareRing> open(Communicator& group, const std::vector<std::string>& interfaces);

  /// The seconds for `size_bytes` from rank 0 to rank 1, as measured on rank 0; 0 on other ranks.
  Result<double> seconds_of_one(std::size_t size_bytes, std::chrono::nanoseconds limit);
  /// The seconds until this rank has sent `size_bytes` to the next rank and has received as many from the
  /// previous one.
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
