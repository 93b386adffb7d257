#pragma once

#include "comm/shared_memory/arena.h"
#include "copies/area.h"
#include "copies/keepers.h"
#include "copies/plan.h"

#include <memory>
#include <span>
#include <vector>

namespace cohort::copies {

/// The copies of the state in one layout: the plan, this rank's area, and the areas of the other ranks of
/// this host.
///
/// Threads: one at a time.
/// Lifetime: the arena must outlive it. A shelf that is destroyed without give_back() leaves its memory to
/// the other ranks of the host until the arena begins another generation.
/// Failure: open() fails on all ranks if it fails on one: kExhausted if the arena is full.
/// Cost: two copies of the rank's share, and of the parcels that it keeps for others. Pages are touched once.
class Shelf {
 public:
  /// All ranks call this together. `number`: of this shelf, the same on all ranks; a later one has a larger
  /// one.
  static Result<std::unique_ptr<Shelf>> open(const Keepers& keepers, Arena& arena,
                                             std::span<const Piece> mine, std::uint64_t number);
  ~Shelf();
  Shelf(const Shelf&) = delete;
  Shelf& operator=(const Shelf&) = delete;

  std::uint64_t number() const { return number_; }
  const CopyPlan& plan() const { return plan_; }
  const AreaPlan& own_plan() const { return plan_.areas[static_cast<std::size_t>(rank_)]; }
  Area own_area() const { return own_area_; }
  /// Whether the pieces have the layout of this shelf; their memory may be another.
  bool fits(std::span<const Piece> mine) const;
  /// Copies the rank's own share.
  void copy(std::size_t slot, const Stamp& stamp, std::span<const Piece> mine);

  /// The complete parcels that this rank can read.
  std::vector<Offer> offers(int reader) const;
  /// The parts that `reader` reads, with their bytes in the areas.
  std::vector<Piece> parts_of(int reader, const ResumePoint& point) const;

  /// Frees the memory: no rank reads it any more.
  void give_back() { block_ = {}; }

 private:
  struct SeenArea {
    int rank;
    Area area;
  };
  Shelf(const Keepers& keepers, Arena& arena, std::uint64_t number);
  Status make_plan(const Keepers& keepers, std::span<const Piece> mine);
  Status allocate();
  Status see_others();
  const Area& area_of(int rank) const;

  Arena& arena_;
  const std::uint64_t number_;
  const int rank_;
  const std::shared_ptr<Communicator> near_;  // keeps the mappings
  const std::vector<int> near_ranks_;
  std::vector<Piece> layout_;  // of this rank, without bytes
  CopyPlan plan_;
  ArenaBlock block_;
  Area own_area_{nullptr, {}};
  std::vector<SeenArea> seen_;  // the own one, too
};

}  // namespace cohort::copies
