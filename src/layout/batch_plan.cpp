#include "layout/batch_plan.h"

#include "base/check.h"

#include <algorithm>
#include <numeric>

namespace cohort {
namespace {

// count * part / parts, without overflow of the product.
std::uint64_t share(std::uint64_t count, int part, int parts) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(count) * static_cast<unsigned>(part) /
                                    static_cast<unsigned>(parts));
}

}  // namespace

BatchPlan::BatchPlan(std::uint64_t num_samples, std::uint64_t batch, int slots)
    : num_samples_(num_samples), batch_(batch), slots_(slots), steps_(0) {
  COHORT_CHECK_GE(batch, 1u);
  COHORT_CHECK_GE(slots, 1);
  steps_ = num_samples / batch + (num_samples % batch != 0 ? 1 : 0);
}

std::uint64_t BatchPlan::batch_size(std::uint64_t step_in_epoch) const {
  COHORT_CHECK_LT(step_in_epoch, steps_);
  return std::min(batch_, num_samples_ - step_in_epoch * batch_);
}

IndexRange BatchPlan::indices(const SlotAddress& address) const {
  COHORT_CHECK(address.slot >= 0 && address.slot < slots_, "slot {} of {}", address.slot, slots_);
  const std::uint64_t size = batch_size(address.step_in_epoch);
  const std::uint64_t first = address.step_in_epoch * batch_;
  return {first + share(size, address.slot, slots_), first + share(size, address.slot + 1, slots_)};
}

std::vector<int> deal(int slots, int world, int rank) {
  COHORT_CHECK_GE(slots, 0);
  COHORT_CHECK(rank >= 0 && rank < world, "rank {} of {}", rank, world);
  const auto cut = [&](std::int64_t at) { return static_cast<int>(slots * at / world); };
  std::vector<int> mine(static_cast<std::size_t>(cut(rank + 1) - cut(rank)));
  std::iota(mine.begin(), mine.end(), cut(rank));
  return mine;
}

}  // namespace cohort
