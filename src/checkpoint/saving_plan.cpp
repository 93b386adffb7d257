#include "checkpoint/saving_plan.h"

#include "comm/numbers/copy.h"
#include "state/gather_lists.h"
#include "state/move.h"
#include "state/peer_source.h"
#include "state/piece_list.h"

#include <algorithm>

namespace cohort::checkpoint {
namespace {

constexpr std::size_t kAlignment = 64;

bool is_same_layout(const Piece& a, const Piece& b) {
  return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape && a.mine == b.mine &&
         a.merge == b.merge;
}

Result<std::vector<std::vector<Piece>>> gather_layouts(Communicator& group, std::span<const Piece> pieces) {
  COHORT_ASSIGN_OR_RETURN(const auto encoded, state::gather_lists(group, state::encode(pieces)));
  std::vector<std::vector<Piece>> held;
  for (const auto& each : encoded) {
    COHORT_ASSIGN_OR_RETURN(auto decoded, state::decode_pieces(each));
    held.push_back(std::move(decoded));
  }
  return held;
}

bool has_merged(const std::vector<Piece>& pieces) {
  return std::any_of(pieces.begin(), pieces.end(),
                     [](const Piece& piece) { return piece.merge != Merge::kSame; });
}

}  // namespace

Result<SavingPlan> SavingPlan::make(Communicator& group, std::span<const Piece> pieces, Memory memory) {
  COHORT_ASSIGN_OR_RETURN(const auto held, gather_layouts(group, pieces));
  COHORT_ASSIGN_OR_RETURN(auto portions, share_out(held));
  SavingPlan plan;
  plan.memory_ = memory;
  plan.layout_ = held[static_cast<std::size_t>(group.rank())];
  plan.portions_ = std::move(portions[static_cast<std::size_t>(group.rank())]);
  plan.merges_ = std::any_of(held.begin(), held.end(), has_merged);
  std::size_t room = 0;
  for (const Portion& portion : plan.portions_) {
    const Piece& piece = plan.layout_[portion.piece];
    plan.firsts_.push_back(room);
    const bool needs_room = memory == Memory::kCopy || piece.merge != Merge::kSame;
    if (!needs_room) continue;
    const std::size_t bytes = portion.mine.count * size_bytes(piece.dtype);
    room += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  auto staging = Staging::make(room);
  COHORT_RETURN_IF_ERROR(state::agree(group, staging ? Status() : Status(staging.error())));
  plan.staging_ = std::move(*staging);
  return plan;
}

bool SavingPlan::fits(std::span<const Piece> pieces) const {
  return std::equal(pieces.begin(), pieces.end(), layout_.begin(), layout_.end(), is_same_layout);
}

std::span<std::byte> SavingPlan::room_of(std::size_t portion) const {
  const Portion& each = portions_[portion];
  return staging_.bytes().subspan(firsts_[portion], each.mine.count * size_bytes(layout_[each.piece].dtype));
}

Result<std::vector<Piece>> SavingPlan::collect(Communicator& group, std::span<const Piece> pieces) const {
  std::vector<Piece> collected;
  for (std::size_t i = 0; i < portions_.size(); ++i) {
    const Portion& portion = portions_[i];
    Piece mine = pieces[portion.piece];
    const std::size_t element_bytes = size_bytes(mine.dtype);
    const auto live = mine.bytes.subspan(portion.first * element_bytes, portion.mine.count * element_bytes);
    mine.mine = portion.mine;
    mine.bytes = live;
    if (memory_ == Memory::kCopy || mine.merge != Merge::kSame) mine.bytes = room_of(i);
    if (mine.bytes.data() != live.data() && mine.merge == Merge::kSame) {
      comm::copy_bytes(mine.bytes.data(), live.data(), live.size());
    }
    collected.push_back(std::move(mine));
  }
  if (merges_) COHORT_RETURN_IF_ERROR(merge(group, pieces, collected));
  return collected;
}

Status SavingPlan::merge(Communicator& group, std::span<const Piece> pieces,
                         std::vector<Piece>& collected) const {
  std::vector<Piece> held, wanted;
  std::copy_if(pieces.begin(), pieces.end(), std::back_inserter(held),
               [](const Piece& piece) { return piece.merge != Merge::kSame; });
  std::copy_if(collected.begin(), collected.end(), std::back_inserter(wanted),
               [](const Piece& piece) { return piece.merge != Merge::kSame; });
  COHORT_ASSIGN_OR_RETURN(const auto source, state::PeerSource::open(group, held));
  return state::move(wanted, *source).within("copies that differ between ranks were not merged");
}

}  // namespace cohort::checkpoint
