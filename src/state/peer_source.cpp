#include "state/peer_source.h"

#include "base/check.h"
#include "base/checksum.h"
#include "layout/slice.h"
#include "state/gather_lists.h"
#include "state/peer_exchange.h"
#include "state/piece_list.h"

#include <map>

namespace cohort::state {
Result<std::unique_ptr<PeerSource>> PeerSource::open(Communicator& group, std::span<const Piece> mine,
                                                     std::size_t buffer_bytes) {
  std::unique_ptr<PeerSource> source(new PeerSource(group, mine, buffer_bytes));
  COHORT_RETURN_IF_ERROR(source->gather_layouts().within("the layouts of the state were not exchanged"));
  COHORT_RETURN_IF_ERROR(source->gather_hashes().within("copies of the state were not compared"));
  return source;
}

PeerSource::PeerSource(Communicator& group, std::span<const Piece> mine, std::size_t buffer_bytes)
    : group_(group), mine_(mine.begin(), mine.end()), buffer_bytes_(buffer_bytes) {
  for (const Piece& piece : mine_) {
    COHORT_CHECK(piece.order.empty(), "{} is not in row-major order", piece.name);
  }
}

Status PeerSource::gather_layouts() {
  COHORT_ASSIGN_OR_RETURN(const auto encoded, gather_lists(group_, encode(mine_)));
  const int world = group_.size();
  for (int step = 0; step < world; ++step) {
    const int holder = (group_.rank() + step) % world;
    COHORT_ASSIGN_OR_RETURN(auto pieces, decode_pieces(encoded[static_cast<std::size_t>(holder)]));
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      held_.push_back({.piece = std::move(pieces[i]), .holder = holder});
      indices_.push_back(i);
    }
  }
  return {};
}

// Pieces that several ranks hold in the same slice have an equal key on all of these ranks.
Status PeerSource::gather_hashes() {
  std::map<std::pair<std::string_view, std::string>, std::vector<std::size_t>> by_slice;
  for (std::size_t i = 0; i < held_.size(); ++i) {
    const Piece& piece = held_[i].piece;
    if (piece.merge != Merge::kSame || piece.mine.count == 0) continue;
    by_slice[{piece.name, text_of(piece.mine)}].push_back(i);
  }
  std::vector<std::int64_t> mine(mine_.size());
  bool is_replicated = false;
  for (const auto& [slice, copies] : by_slice) {
    if (copies.size() < 2) continue;
    is_replicated = true;
    for (const std::size_t i : copies) {
      if (held_[i].holder == group_.rank()) {
        mine[indices_[i]] = static_cast<std::int64_t>(content_hash(mine_[indices_[i]].bytes));
      }
    }
  }
  if (!is_replicated) return {};  // all ranks know the same layouts
  COHORT_ASSIGN_OR_RETURN(const auto all, gather_lists(group_, mine));
  for (const auto& [slice, copies] : by_slice) {
    for (const std::size_t i : copies) {
      if (copies.size() < 2) continue;
      held_[i].hash = static_cast<std::uint64_t>(all[static_cast<std::size_t>(held_[i].holder)][indices_[i]]);
    }
  }
  return {};
}

Status PeerSource::agree(const Status& mine) {
  return state::agree(group_, mine);
}

Status PeerSource::read(std::span<const Read> reads, const Taker& take) {
  std::vector<PeerExchange::Wanted> wanted;
  for (const Read& read : reads) {
    const HeldPiece& held = held_[read.held];
    wanted.push_back({.holder = held.holder,
                      .piece = indices_[read.held],
                      .from = read.from,
                      .count = read.count,
                      .element_bytes = size_bytes(held.piece.dtype)});
  }
  PeerExchange exchange(group_, mine_, buffer_bytes_);
  return exchange.run(wanted, take).within("the pieces of other ranks were not read");
}

}  // namespace cohort::state
