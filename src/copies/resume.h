#pragma once

#include "base/result.h"
#include "copies/plan.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cohort::copies {

/// A version of the state that was kept.
struct Stamp {
  std::uint64_t key = 0;     ///< a later keep() has a larger one; 0: none
  std::int64_t version = 0;  ///< as the caller numbers versions

  bool operator==(const Stamp&) const = default;
};

/// A parcel that a survivor can read, complete.
struct Offer {
  int reader = 0;       ///< its rank in the new generation
  bool is_own = false;  ///< the area is the reader's own
  int area = 0;         ///< the rank that the area's owner had when the parcel was kept
  std::size_t parcel = 0;
  Stamp stamp{};
};

/// The survivor that reads a part, and the copy that it reads.
struct PartReader {
  int reader = 0;
  std::size_t copy = 0;  ///< index in Part::copies
};

struct ResumePoint {
  Stamp stamp{};
  std::vector<PartReader> readers{};  ///< by part: each is read once, however many copies are left
};

/// The newest version of which every part is among the offers: a pure function, the same on all ranks that
/// know the plan. An area of several readers is read by its owner, or by all of them in turn.
///
/// Failure: kNotFound if no version is complete, with the first elements that the newest one lacks.
Result<ResumePoint> resume_point(const CopyPlan& plan, std::span<const Offer> offers);

}  // namespace cohort::copies
