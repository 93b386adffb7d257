#pragma once

#include "comm/transport/transport.h"
#include "mpi/library.h"

#include <memory>
#include <span>
#include <vector>

namespace cohort::mpi {

/// So much payload travels with its header: what every MPI sends at once, without asking the receiver.
inline constexpr std::size_t kInlineBytes = 1984;
/// MPI counts bytes with an int.
inline constexpr std::size_t kPieceBytes = std::size_t{1} << 30;

/// A frame on its way out, in memory of its own: MPI cannot be told to let go of a message it has begun.
///
/// Threads: one at a time.
/// Lifetime: must not die before is_through(), see Library::keep().
class Outbound {
 public:
  /// How the frame is addressed.
  struct Address {
    int member = 0;
    int world_rank = 0;
    int tag = 0;
  };
  Outbound(const Address& address, const comm::FrameHeader& header, std::span<const std::byte> payload,
           comm::Transport::Sent sent);

  /// Hands it to MPI. A code of the shim.
  int begin(const Library& library);
  /// Asks MPI how far it is. A code of the shim.
  int test(const Library& library);
  bool is_through() const { return requests_.empty(); }

  int to() const { return address_.member; }
  const comm::FrameHeader& header() const { return header_; }
  /// Forgets whom to call back.
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
