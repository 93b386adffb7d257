#include "reduce/lanes.h"

#include "base/check.h"

#include <fmt/format.h>

namespace cohort {

int num_bucket_lanes(const HostGrid& grid) {
  return grid.num_hosts == 1 ? 1 : 2;
}

Lanes::Lanes(Communicator& group, NearGroups rule) : group_(group) {
  const HostGrid grid = company_grid(group.hosts(), group.rank(), group.size(), rule);
  for (int lane = 1; lane <= cohort::num_bucket_lanes(grid); ++lane) {
    own_.emplace_back(group, fmt::format("lane {}", lane), rule);
  }
}

const Company& Lanes::operator[](int lane) const {
  COHORT_CHECK(lane > 0 && static_cast<std::size_t>(lane) <= own_.size(), "lane {}", lane);
  return own_[static_cast<std::size_t>(lane) - 1];
}

void Lanes::abort(const Error& cause) {
  group_.abort(cause);
  for (Company& each : own_) each.abort(cause);
  for (Communicator* each : others_) each->abort(cause);
}

void Lanes::set_trace(const std::shared_ptr<comm::CallTrace>& trace) {
  group_.set_trace(trace);
  for (Company& each : own_) each.set_trace(trace);
  for (Communicator* each : others_) each->set_trace(trace);
}

}  // namespace cohort
