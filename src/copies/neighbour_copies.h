#pragma once

#include "comm/shared_memory/arena.h"
#include "copies/delivery.h"
#include "copies/keepers.h"
#include "copies/shelf.h"
#include "state/piece_source.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cohort {

/// Copies of the state of training in the memory of the ranks, so that the state survives the loss of a rank,
/// or of a host, without a disk. Two versions are held: the one in progress never damages the last complete
/// one. Inside a host no bytes are sent, as the memory of a rank that has ended stays readable.
///
///     NeighbourCopies copies(arena);
///     COHORT_RETURN_IF_ERROR(copies.join(group));
///     …                                                             // after each step, or every k steps:
///     COHORT_RETURN_IF_ERROR(copies.keep(step, pieces));
///     …                                                             // after a failure, on each survivor:
///     COHORT_RETURN_IF_ERROR(copies.join(group_of_the_next_generation));
///     COHORT_ASSIGN_OR_RETURN(const auto kept, copies.last());      // a version, and where it is read from
///     COHORT_RETURN_IF_ERROR(state::move(pieces_in_any_layout, *kept.source));
///
/// Threads: one at a time. Between two calls, messages to other hosts are sent in the background.
/// Lifetime: the arena, that of the group's ranks, must outlive it. The group may be destroyed after join().
/// The memory of a NeighbourCopies that is destroyed without give_back() stays readable for the other ranks
/// of the host until the arena begins another generation.
/// Failure: after a failure of keep() or of the group, only join() with a new group goes on. A version that
/// was restored after a loss is safe from a second loss once a version of the new group is complete.
/// Cost: on one host, one copy of the rank's share, two barriers, and memory for two copies; on several hosts
/// as much again for the parts that only one host has. Nothing is allocated while the layout stays the same.
class NeighbourCopies {
 public:
  explicit NeighbourCopies(Arena& arena) : arena_(arena) {}
  ~NeighbourCopies();
  NeighbourCopies(const NeighbourCopies&) = delete;
  NeighbourCopies& operator=(const NeighbourCopies&) = delete;

  /// Keeps copies among the ranks of this group from now on. All ranks call this together, also ranks that
  /// are new and hold nothing. Versions of earlier groups stay until a later one is complete.
  Status join(Communicator& group);

  /// Keeps this version. All ranks call this together, between two changes of the state: the version is
  /// copied when it returns. The version is complete, and survives a loss, when this has returned on all
  /// ranks; the copies on other hosts follow in the background.
  Status keep(std::int64_t version, std::span<const Piece> mine);
  /// Waits until the last version is complete on other hosts, too. All ranks call this together.
  Status settle();

  /// A version of the state, to be read by all ranks together.
  ///
  /// Lifetime: the source until the next join() or keep().
  struct Kept {
    std::int64_t version = 0;
    std::unique_ptr<state::PieceSource> source{};
  };
  /// The newest version that is complete in the memory of the ranks of this group. All ranks call this
  /// together. Processes that are no longer in the group must have ended, as after Context::form().
  ///
  /// Failure: kNotFound if there is none, with the elements that the newest version lacks.
  Result<Kept> last();

  /// False if this rank has kept nothing, or has given everything back.
  bool holds_any() const { return !shelves_.empty(); }
  /// Ends the calls of the other ranks with this error.
  void abort(const Error& cause);
  /// Frees the memory, when no rank needs the copies any more.
  void give_back();

 private:
  struct Found {
    const copies::Shelf* shelf = nullptr;
    copies::ResumePoint point{};  ///< of key 0: no version of this rank's shelves is complete
    std::string missing{};        ///< why not
  };

  Status has_group() const;
  Status begin(bool& is_new_layout);
  Status open_shelf(std::span<const Piece> mine);
  void forget_earlier();
  Result<Found> newest() const;

  Arena& arena_;
  std::uint64_t term_ = 0;      // goes up with join(): keys of a later group are larger
  std::uint64_t num_kept_ = 0;  // in this term
  std::optional<copies::Keepers> keepers_;
  std::vector<std::unique_ptr<copies::Shelf>> shelves_;  // the oldest first
  copies::Shelf* current_ = nullptr;                     // the last shelf, if it is of this term
  bool has_kept_ = false;                                // a version in the current shelf
  copies::Delivery delivery_;
};

}  // namespace cohort
