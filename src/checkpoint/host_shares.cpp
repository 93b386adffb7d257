#include "checkpoint/host_shares.h"

#include "base/checksum.h"
#include "state/gather_lists.h"
#include "state/piece_list.h"

#include <algorithm>

namespace cohort::checkpoint {
namespace {

std::int64_t key_of(const Piece& piece) {
  return static_cast<std::int64_t>(content_hash(state::encode(std::span(&piece, 1))));
}

}  // namespace

std::vector<std::int64_t> HostShares::keys_of(std::span<const Piece> pieces) {
  std::vector<std::int64_t> keys;
  for (const Piece& piece : pieces) {
    if (piece.memory == PieceMemory::kOfHost) keys.push_back(key_of(piece));
  }
  return keys;
}

Piece HostShares::own_part(Piece piece) const {
  if (piece.memory == PieceMemory::kOwn) return piece;
  std::size_t place = 0, num_sharing = 0;
  const std::int64_t key = key_of(piece);
  for (std::size_t r = 0; r < keys_.size(); ++r) {
    const bool is_near = r == rank_ || (r < hosts_.size() && hosts_[r] == hosts_[rank_]);
    if (!is_near || std::find(keys_[r].begin(), keys_[r].end(), key) == keys_[r].end()) continue;
    if (r == rank_) place = num_sharing;
    ++num_sharing;
  }
  const std::size_t element_bytes = size_bytes(piece.dtype);
  const std::size_t first = piece.mine.count * place / num_sharing;
  const std::size_t last = piece.mine.count * (place + 1) / num_sharing;
  piece.mine.first += first;
  piece.mine.count = last - first;
  piece.bytes = piece.bytes.subspan(first * element_bytes, (last - first) * element_bytes);
  return piece;
}

Result<std::vector<Piece>> own_parts(Communicator& group, std::span<const Piece> pieces) {
  COHORT_ASSIGN_OR_RETURN(auto keys, state::gather_lists(group, HostShares::keys_of(pieces)));
  const HostShares shares(group.rank(), group.hosts(), std::move(keys));
  std::vector<Piece> parts;
  for (const Piece& piece : pieces) parts.push_back(shares.own_part(piece));
  return parts;
}

}  // namespace cohort::checkpoint
