#include "copies/shelf.h"

#include "comm/numbers/copy.h"
#include "state/gather_lists.h"
#include "state/piece_list.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::copies {
namespace {

bool has_same_layout(const Piece& a, const Piece& b) {
  return a.name == b.name && a.dtype == b.dtype && a.merge == b.merge && a.shape == b.shape &&
         a.mine == b.mine;
}

}  // namespace

Result<std::unique_ptr<Shelf>> Shelf::open(const Keepers& keepers, Arena& arena, std::span<const Piece> mine,
                                           std::uint64_t number) {
  std::unique_ptr<Shelf> shelf(new Shelf(keepers, arena, number));
  COHORT_RETURN_IF_ERROR(shelf->make_plan(keepers, mine));
  COHORT_RETURN_IF_ERROR(state::agree(*keepers.all, shelf->allocate()));
  COHORT_RETURN_IF_ERROR(shelf->see_others());
  return shelf;
}

Shelf::Shelf(const Keepers& keepers, Arena& arena, std::uint64_t number)
    : arena_(arena),
      number_(number),
      rank_(keepers.all->rank()),
      near_(keepers.near),
      near_ranks_(keepers.near_ranks) {}

Shelf::~Shelf() {
  if (!block_.bytes().empty()) arena_.retire(std::move(block_));
}

Status Shelf::make_plan(const Keepers& keepers, std::span<const Piece> mine) {
  layout_.assign(mine.begin(), mine.end());
  for (Piece& piece : layout_) piece.bytes = {};
  COHORT_ASSIGN_OR_RETURN(const auto encoded, state::gather_lists(*keepers.all, state::encode(layout_)));
  std::vector<std::vector<Piece>> by_rank;
  for (const auto& bytes : encoded) {
    COHORT_ASSIGN_OR_RETURN(by_rank.emplace_back(), state::decode_pieces(bytes));
  }
  plan_ = plan_copies(by_rank, keepers.hosts);
  return {};
}

Status Shelf::allocate() {
  COHORT_ASSIGN_OR_RETURN(block_, arena_.allocate(Area::size_bytes(own_plan())));
  own_area_ = Area(block_.bytes().data(), own_plan());
  return {};
}

Status Shelf::see_others() {
  for (std::size_t i = 0; i < near_ranks_.size(); ++i) {
    std::byte* memory = block_.bytes().data();
    if (near_ != nullptr) {
      COHORT_ASSIGN_OR_RETURN(memory, near_->see(static_cast<int>(i), block_.bytes()));
    }
    const int rank = near_ranks_[i];
    if (rank == rank_) memory = block_.bytes().data();
    if (memory == nullptr) continue;
    seen_.push_back({rank, Area(memory, plan_.areas[static_cast<std::size_t>(rank)])});
  }
  return {};
}

bool Shelf::fits(std::span<const Piece> mine) const {
  return std::equal(mine.begin(), mine.end(), layout_.begin(), layout_.end(), has_same_layout);
}

void Shelf::copy(std::size_t slot, const Stamp& stamp, std::span<const Piece> mine) {
  own_area_.break_seal(slot, 0);
  for (const OwnCopy& own : own_plan().own) {
    const Part& part = plan_.parts[own.part];
    const std::size_t size = size_bytes(mine[own.piece].dtype);
    comm::stream_bytes(own_area_.at(slot, own.offset), mine[own.piece].bytes.data() + part.first * size,
                       part.count * size);
  }
  own_area_.set_seal(slot, 0, stamp);
}

std::vector<Offer> Shelf::offers(int reader) const {
  std::vector<Offer> all;
  for (const SeenArea& seen : seen_) {
    const std::size_t num_parcels = plan_.areas[static_cast<std::size_t>(seen.rank)].parcels.size();
    for (std::size_t i = 0; i < kNumSlots * num_parcels; ++i) {
      const auto stamp = seen.area.stamp_of(i / num_parcels, i % num_parcels);
      if (!stamp) continue;
      all.push_back({.reader = reader,
                     .is_own = seen.rank == rank_,
                     .area = seen.rank,
                     .parcel = i % num_parcels,
                     .stamp = *stamp});
    }
  }
  return all;
}

std::vector<Piece> Shelf::parts_of(int reader, const ResumePoint& point) const {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < point.readers.size(); ++i) {
    if (point.readers[i].reader != reader) continue;
    const Part& part = plan_.parts[i];
    const CopyPlace& place = part.copies[point.readers[i].copy];
    const Area& area = area_of(place.area);
    const std::size_t slot = area.stamp_of(0, place.parcel) == point.stamp ? 0 : 1;
    Piece piece = plan_.pieces[part.piece];
    piece.mine.first += part.first;
    piece.mine.count = part.count;
    piece.bytes = {area.at(slot, place.offset), part.count * size_bytes(piece.dtype)};
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

const Area& Shelf::area_of(int rank) const {
  return std::find_if(seen_.begin(), seen_.end(), [&](const SeenArea& seen) { return seen.rank == rank; })
      ->area;
}

}  // namespace cohort::copies
