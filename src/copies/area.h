#pragma once

#include "copies/plan.h"
#include "copies/resume.h"

#include <cstddef>
#include <optional>
#include <span>

namespace cohort::copies {

/// The number of versions that are held: the last complete one, and the one in progress.
inline constexpr std::size_t kNumSlots = 2;

/// The memory in which one rank keeps copies: a seal for each parcel of each slot, then the slots. A parcel
/// is complete if its seal is set: a rank that is killed while it writes leaves the seal broken.
///
/// Threads: one writer, the owner. Others read once the owner writes no more.
/// Lifetime: a view; the memory must outlive it.
class Area {
 public:
  static std::size_t size_bytes(const AreaPlan& plan);
  /// `memory` begins on a cache line; all zeros are broken seals.
  Area(std::byte* memory, const AreaPlan& plan);

  /// Before the first byte of the parcel changes.
  void break_seal(std::size_t slot, std::size_t parcel);
  /// After its last byte.
  void set_seal(std::size_t slot, std::size_t parcel, const Stamp& stamp);
  /// The version that the parcel holds; nothing if it is not complete.
  std::optional<Stamp> stamp_of(std::size_t slot, std::size_t parcel) const;
  /// The memory at an offset in a slot.
  std::byte* at(std::size_t slot, std::size_t offset) const;

 private:
  struct Seal;
  Seal& seal(std::size_t slot, std::size_t parcel) const;

  std::byte* memory_;
  std::size_t num_parcels_;
  std::size_t slot_bytes_;
};

}  // namespace cohort::copies
