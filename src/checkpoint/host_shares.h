#pragma once

#include "comm/group/communicator.h"
#include <cohort/state.h>

#include <cstdint>
#include <span>
#include <vector>

namespace cohort::checkpoint {

/// Divides the reading of memory that the ranks of a host share: each rank that has the piece fills a part of
/// it.
///
/// Threads: immutable.
class HostShares {
 public:
  /// `hosts` and `keys` are those of all ranks; without hosts, no rank shares memory with another one.
  HostShares(int rank, std::vector<int> hosts, std::vector<std::vector<std::int64_t>> keys)
      : rank_(static_cast<std::size_t>(rank)), hosts_(std::move(hosts)), keys_(std::move(keys)) {}

  /// A number for each shared piece, the same on all ranks that have the same elements of the tensor.
  static std::vector<std::int64_t> keys_of(std::span<const Piece> pieces);

  /// The part of the piece that this rank fills; all of it if its memory is not shared.
  Piece own_part(Piece piece) const;

 private:
  const std::size_t rank_;
  const std::vector<int> hosts_;
  const std::vector<std::vector<std::int64_t>> keys_;
};

/// The part of each piece that this rank fills when all ranks of the group fill their pieces. All ranks call
/// this together.
Result<std::vector<Piece>> own_parts(Communicator& group, std::span<const Piece> pieces);

}  // namespace cohort::checkpoint
