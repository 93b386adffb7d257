#pragma once

#include <cohort/state.h>

#include <cstddef>
#include <span>
#include <vector>

// The copies that the ranks of a job keep of its state, as pure data.
//
// Each rank has an *area* of memory. An area has slots, one for each version that is held; a slot has
// *parcels*: parcel 0 holds the rank's own share, each further one the copies that come by messages from
// another rank.
//
//     rank 0 on host a    slot: │ own: sent | kept here only │ parcel from rank 2 │
//
// The state is cut into *parts*. A part is kept once if all ranks are on one host, where every rank can read
// every area; else twice, on two hosts. Elements that several ranks have alike are cut evenly among these
// ranks. A part that ranks of two hosts have is copied from memory on both; a part of a single host is sent
// to the keeper of the rank that copies it.

namespace cohort::copies {

/// A copy of a part, in the area of one rank.
struct CopyPlace {
  int area = 0;  ///< the rank whose memory it is
  std::size_t parcel = 0;
  std::size_t offset = 0;  ///< in the slot, in bytes
};

/// Elements that are copied together.
struct Part {
  std::size_t piece = 0;  ///< index in CopyPlan::pieces
  std::size_t first = 0;  ///< in the slice of the piece, in elements
  std::size_t count = 0;
  std::vector<CopyPlace> copies{};  ///< one or two
};

/// A part that a rank copies from its own memory.
struct OwnCopy {
  std::size_t part = 0;    ///< index in CopyPlan::parts
  std::size_t piece = 0;   ///< index among the pieces of the rank
  std::size_t offset = 0;  ///< in the slot, in bytes
};

struct Parcel {
  int from = 0;            ///< the rank whose parts these are
  std::size_t offset = 0;  ///< in the slot, in bytes
  std::size_t size_bytes = 0;
};

/// The content of one slot of a rank.
struct AreaPlan {
  std::vector<OwnCopy> own{};
  std::vector<Parcel> parcels{};  ///< parcel 0: its own share
  int keeper = 0;                 ///< the rank that the first `sent_bytes` of the slot are sent to
  std::size_t sent_bytes = 0;
  std::size_t slot_bytes = 0;
};

struct CopyPlan {
  /// Everything that the state consists of, without bytes. Pieces that several ranks have alike are one.
  std::vector<Piece> pieces{};
  std::vector<Part> parts{};
  std::vector<AreaPlan> areas{};  ///< by rank
};

/// `by_rank`: the pieces of each rank, without their bytes; `hosts`: the host of each rank.
CopyPlan plan_copies(std::span<const std::vector<Piece>> by_rank, std::span<const int> hosts);

}  // namespace cohort::copies
