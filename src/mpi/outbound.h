#pragma once

#include "comm/transport/transport.h"
#include "mpi/library.h"

#include <memory>
#include <span>
#include <vector>

namespace cohort::mpi {

/// Payloads up to this size travel in one message with their header: every MPI sends that many bytes eagerly.
inline constexpr std::size_t kInlineBytes = 1984;
/// Longer payloads are sent in pieces, because MPI counts bytes with an int.
inline constexpr std::size_t kPieceBytes = std::size_t{1} << 30;

/// A frame that is being sent, in a buffer of its own: MPI cannot cancel a send.
///
/// Threads: one at a time.
/// Lifetime: must live until is_through(); see Library::keep().
class Outbound {
 public:
  /// The receiver and tag of the frame.
  struct Address {
    int member = 0;
    int world_rank = 0;
    int tag = 0;
  };
  Outbound(const Address& address, const comm::FrameHeader& header, std::span<const std::byte> payload,
           comm::Transport::Sent sent);

  /// Starts the send. Returns an error code of the shim.
  int begin(const Library& library);
  /// Tests the send for completion. Returns an error code of the shim.
  int test(const Library& library);
  bool is_through() const { return requests_.empty(); }

  int to() const { return address_.member; }
  const comm::FrameHeader& header() const { return header_; }
  /// Drops the callback of the send.
  void withdraw() { sent_ = nullptr; }
  comm::Transport::Sent take_sent() { return std::exchange(sent_, nullptr); }

 private:
  const Address address_;
  const comm::FrameHeader header_;
  std::vector<std::byte> bytes_;  // the header and all of the payload
  comm::Transport::Sent sent_;
  std::vector<CohortMpiHandle> requests_;
};

}  // namespace cohort::mpi
