#pragma once

#include "comm/transport/frame.h"
#include "mpi/library.h"

#include <memory>
#include <span>
#include <vector>

namespace cohort::mpi {

/// The frame that is coming in from one member, in memory of its own.
///
/// Threads: one at a time.
/// Lifetime: what MPI still writes into is handed to Library::keep() by abandon().
class Inbound {
 public:
  /// Whom it comes from.
  struct Source {
    int world_rank = 0;
    int tag = 0;
  };
  enum class Stage { kIdle, kHeader, kPayload, kComplete };

  Stage stage() const { return stage_; }
  /// A message with a header is there, this long. Codes of the shim, as in advance().
  int begin(const Library& library, const Source& source, int size_bytes);
  /// Goes on as far as it can without waiting.
  int advance(const Library& library);
  /// When it is complete.
  const Result<comm::FrameHeader>& header() const { return header_; }
  std::span<const std::byte> payload() const { return std::span(*bytes_).subspan(comm::kFrameHeaderBytes); }
  /// Ready for the next.
  void reset();
  void abandon(Library& library);

 private:
  int receive_piece(const Library& library);
  int decode(const Library& library);

  Stage stage_ = Stage::kIdle;
  Source source_{};
  CohortMpiHandle request_ = 0;
  std::shared_ptr<std::vector<std::byte>> bytes_;
  std::size_t num_received_ = 0;
  std::size_t piece_bytes_ = 0;
  Result<comm::FrameHeader> header_ = comm::FrameHeader{};
};

}  // namespace cohort::mpi
