#pragma once

#include "base/exact_sum.h"
#include "comm/group/communicator.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace cohort::solve {

/// The ranks among which vectors are sliced: adds up scalars over all of them.
///
/// Threads: one at a time.
/// Failure: what the group reports.
class Ranks {
 public:
  virtual ~Ranks() = default;
  /// Replaces each sum by that over all ranks, and each maximum by the largest of all ranks. All ranks call
  /// this together, with as many of both.
  virtual Status combine(std::span<ExactSum> sums, std::span<double> maxima) = 0;
};

/// A rank that is alone.
class OneRank final : public Ranks {
 public:
  Status combine(std::span<ExactSum> /*sums*/, std::span<double> /*maxima*/) override { return {}; }
};

/// The ranks of a group.
///
/// Lifetime: the group must outlive it.
/// Cost: an all-gather of 88 bytes for each sum and 8 for each maximum.
class RanksOfGroup final : public Ranks {
 public:
  explicit RanksOfGroup(Communicator& group) : group_(group) {}
  Status combine(std::span<ExactSum> sums, std::span<double> maxima) override;
  /// The bytes of scalars that this rank has sent to each other rank so far.
  std::uint64_t bytes_sent() const { return bytes_sent_; }

 private:
  Communicator& group_;
  std::uint64_t bytes_sent_ = 0;
};

/// The larger number, or NaN if one is.
double larger(double a, double b);

}  // namespace cohort::solve
