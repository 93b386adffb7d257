#include "train/lanes.h"

#include "base/check.h"
#include "base/result.h"

#include <fmt/format.h>

namespace cohort::train {

int num_bucket_lanes(int world, Link link) {
  return world == 1 || link == Link::kSharedMemory ? 1 : 2;
}

Lanes::Lanes(Communicator& group) : group_(group) {
  const Link link = group.traits().zero_copy ? Link::kSharedMemory : Link::kMessages;
  for (int lane = 1; lane <= train::num_bucket_lanes(group.size(), link); ++lane) {
    own_.push_back(value_or_throw(group.split(0, group.rank(), fmt::format("lane {}", lane))));
  }
}

Communicator& Lanes::operator[](int lane) const {
  if (lane == 0) return group_;
  COHORT_CHECK(lane > 0 && static_cast<std::size_t>(lane) <= own_.size(), "lane {}", lane);
  return *own_[static_cast<std::size_t>(lane) - 1];
}

void Lanes::abort(const Error& cause) {
  group_.abort(cause);
  for (const auto& each : own_) each->abort(cause);
}

void Lanes::set_trace(const std::shared_ptr<comm::CallTrace>& trace) {
  group_.set_trace(trace);
  for (const auto& each : own_) each->set_trace(trace);
}

}  // namespace cohort::train
