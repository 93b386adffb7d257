#pragma once

#include "comm/transport/frame.h"
#include "mpi/library.h"

#include <memory>
#include <span>
#include <vector>

namespace cohort::mpi {

/// The frame that is being received from one member, into a buffer of its own.
///
/// Threads: one at a time.
/// Lifetime: abandon() hands a buffer that MPI still writes into to Library::keep().
class Inbound {
 public:
  /// The sender and tag of the frame.
  struct Source {
    int world_rank = 0;
    int tag = 0;
  };
  enum class State { kIdle, kHeader, kPayload, kComplete };

  State state() const { return state_; }
  /// Begins to receive a message of `size_bytes` that starts with a frame header. Returns an error code of
  /// the shim, as advance() does.
  int begin(const Library& library, const Source& source, int size_bytes);
  /// Continues as far as possible without waiting.
  int advance(const Library& library);
  /// The header and payload of a complete frame.
  const Result<comm::FrameHeader>& header() const { return header_; }
  std::span<const std::byte> payload() const { return std::span(*bytes_).subspan(comm::kFrameHeaderBytes); }
  /// Makes this ready for the next frame.
  void reset();
  void abandon(Library& library);

 private:
  int receive_piece(const Library& library);
  int decode(const Library& library);

  State state_ = State::kIdle;
  Source source_{};
  CohortMpiHandle request_ = 0;
  std::shared_ptr<std::vector<std::byte>> bytes_;
  std::size_t num_received_ = 0;
  std::size_t piece_bytes_ = 0;
  Result<comm::FrameHeader> header_ = comm::FrameHeader{};
};

}  // namespace cohort::mpi
