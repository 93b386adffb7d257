#include "reduce/company.h"

#include "base/result.h"

#include <fmt/format.h>

namespace cohort {

HostGrid company_grid(std::span<const int> hosts, int rank, int size, NearGroups rule) {
  const HostGrid flat{.num_hosts = size, .per_host = 1, .host = rank, .place = 0};
  const std::optional<HostGrid> grid = host_grid(hosts, rank);
  if (!grid || (rule == NearGroups::kInOrder && !grid->is_in_order)) return flat;
  return *grid;
}

Company::Company(Communicator& group, const std::string& name, NearGroups rule)
    : grid_(company_grid(group.hosts(), group.rank(), group.size(), rule)) {
  // The ranks of a group follow the grid, as shards do: ranks in any order may be on any host.
  const auto split = [&](int colour, int key, const char* purpose) {
    return value_or_throw(group.split(colour, key, fmt::format("{}{}", name, purpose)));
  };
  const bool is_grid = grid_.per_host > 1 && grid_.num_hosts > 1;
  if (grid_.per_host > 1) near_ = split(grid_.host, grid_.place, is_grid ? " near" : "");
  if (grid_.num_hosts > 1) across_ = split(grid_.place, grid_.host, is_grid ? " across" : "");
  if (is_grid || group.size() == 1) own_all_ = split(0, group.rank(), "");
  all_ = own_all_ != nullptr ? own_all_.get() : near_ != nullptr ? near_.get() : across_.get();
}

Numbers Company::near_part(Numbers whole) const {
  if (near_ == nullptr) return whole;
  const std::size_t count = whole.count / static_cast<std::size_t>(near_->size());
  return whole.slice(count * static_cast<std::size_t>(near_->rank()), count);
}

Status Company::all_gather(ConstNumbers own, Numbers whole) const {
  const Numbers part = near_part(whole);
  if (across_ != nullptr) COHORT_RETURN_IF_ERROR(across_->run(cohort::all_gather(own, part)));
  if (near_ == nullptr) return across_ != nullptr ? Status() : all_->run(cohort::all_gather(own, whole));
  return near_->run(cohort::all_gather(across_ != nullptr ? ConstNumbers(part) : own, whole));
}

Status Company::mean(ConstNumbers from, Numbers to) const {
  if (near_ == nullptr || across_ == nullptr) return all_->run(all_reduce(from, to, ReduceOp::kMean));
  Status outcome = mean_by_host(from, to);
  if (!outcome) abort(outcome.error());  // a rank that failed here may be in one of the groups only
  return outcome;
}

Status Company::mean_by_host(ConstNumbers from, Numbers to) const {
  const std::size_t even = to.count - to.count % static_cast<std::size_t>(near_->size());
  const Numbers whole = to.slice(0, even), part = near_part(whole);
  COHORT_RETURN_IF_ERROR(near_->run(reduce_scatter(from.slice(0, even), part, ReduceOp::kMean)));
  COHORT_RETURN_IF_ERROR(across_->run(all_reduce(part, ReduceOp::kMean)));
  COHORT_RETURN_IF_ERROR(near_->run(cohort::all_gather(part, whole)));
  if (even == to.count) return {};
  const std::size_t rest = to.count - even;
  return all_->run(all_reduce(from.slice(even, rest), to.slice(even, rest), ReduceOp::kMean));
}

void Company::abort(const Error& cause) const {
  for (Communicator* each : {own_all_.get(), near_.get(), across_.get()}) {
    if (each != nullptr) each->abort(cause);
  }
}

void Company::set_trace(const std::shared_ptr<comm::CallTrace>& trace) {
  for (Communicator* each : {own_all_.get(), near_.get(), across_.get()}) {
    if (each != nullptr) each->set_trace(trace);
  }
}

}  // namespace cohort
