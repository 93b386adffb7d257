#include "layout/batch_plan.h"

#include "base/check.h"

#include <algorithm>

namespace cohort {
namespace {

// count * part / parts, where the product may not fit.
std::uint64_t share(std::uint64_t count, int part, int parts) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(count) * static_cast<unsigned>(part) /
                                    static_cast<unsigned>(parts));
}

}  // namespace

BatchPlan::BatchPlan(std::uint64_t num_samples, std::uint64_t batch, int slots, LastBatch last)
    : num_samples_(num_samples), batch_(batch), slots_(slots), steps_(0) {
  COHORT_CHECK_GE(batch, 1u);
  COHORT_CHECK_GE(slots, 1);
  const bool rest = num_samples % batch != 0;
  steps_ = num_samples / batch + (rest && last == LastBatch::kKeep ? 1 : 0);
}

std::uint64_t BatchPlan::batch_size(std::uint64_t step_in_epoch) const {
  COHORT_CHECK_LT(step_in_epoch, steps_);
  return std::min(batch_, num_samples_ - step_in_epoch * batch_);
}

PositionRange BatchPlan::positions(const SlotAddress& address) const {
  COHORT_CHECK(address.slot >= 0 && address.slot < slots_, "slot {} of {}", address.slot, slots_);
  const std::uint64_t size = batch_size(address.step_in_epoch);
  const std::uint64_t first = address.step_in_epoch * batch_;
  return {first + share(size, address.slot, slots_), first + share(size, address.slot + 1, slots_)};
}

}  // namespace cohort
