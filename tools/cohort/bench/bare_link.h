#pragma once

#include "base/descriptor.h"
#include "base/result.h"
#include "comm/communicator.h"

#include <chrono>

namespace cohort::tool {

/// One plain TCP connection from rank 0 to rank 1, with nothing of ours on it: what a link carries at best.
///
/// Threads: one. Every rank of the group makes one; those beyond the first two hold nothing.
/// Failure: every read and write has a limit.
class BareLink {
 public:
  static Result<BareLink> open(Communicator& group, const std::vector<std::string>& interfaces);

  /// Seconds for so many bytes from rank 0 to rank 1, as rank 0 sees it; 0 elsewhere.
  Result<double> seconds_for(std::size_t size_bytes, std::chrono::nanoseconds limit);

 private:
  BareLink(int rank, Descriptor socket) : rank_(rank), socket_(std::move(socket)) {}

  int rank_;
  Descriptor socket_;
};

}  // namespace cohort::tool
