#include "comm/group/communicator.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace cohort {
namespace {

/// The error of a call that was not started.
Error refused(const Error& error, const GroupFacts& facts) {
  return error.within(fmt::format("group '{}'", facts.name));
}

Error stale(const Call& call, const GroupFacts& facts, std::uint32_t later) {
  return Error(ErrorCode::kStale,
               fmt::format("rank {}: {} in group '{}' of generation {}, but the world is "
                           "at generation {}",
                           facts.own_global_rank(), facts.text_of(call), facts.name, facts.generation, later))
      .with_remedy("Make groups and trainers again from the Context after form().");
}

/// The record of a call that begins now.
comm::TracedCall traced(const Call& call, const std::string& group) {
  const std::size_t bytes = call.input.count > 0 ? call.input.size_bytes() : call.output.size_bytes();
  return {.group = group,
          .operation = call.operation,
          .bytes = bytes,
          .begin = std::chrono::steady_clock::now(),
          .end = {}};
}

void add_ended(comm::CallTrace& trace, comm::TracedCall call) {
  call.end = std::chrono::steady_clock::now();
  trace.add(std::move(call));
}

}  // namespace

std::vector<int> GroupFacts::global(std::vector<int> of_group) const {
  for (int& each : of_group) each = global_rank(each);
  return of_group;
}

std::string GroupFacts::text_of(const Call& call) const {
  Call named = call;
  if (named.peer >= 0 && named.peer < world) named.peer = global_rank(named.peer);
  return named.text();
}

Status Communicator::check(const Call& call) const {
  if (facts_.end) {
    if (const auto later = facts_.end->later()) return stale(call, facts_, *later);
  }
  if (Status fine = check_call(call, rank(), size()); !fine) return refused(fine.error(), facts_);
  return {};
}

Status Communicator::run(const Call& call) {
  COHORT_RETURN_IF_ERROR(check(call));
  if (!trace_) return run_checked(call);
  comm::TracedCall record = traced(call, facts_.name);
  Status outcome = run_checked(call);
  add_ended(*trace_, std::move(record));
  return outcome;
}

Status Communicator::run_checked(const Call& call) {
  if (call.consumer == nullptr || hands_over()) return do_run(call);
  Call plain = call;
  plain.consumer = nullptr;
  COHORT_RETURN_IF_ERROR(do_run(plain));
  try {
    (*call.consumer)(0, call.output);
  } catch (const std::exception& thrown) {
    const Error failure = consumer_failure(thrown, facts_.own_global_rank());
    abort(failure);
    return failure.within(fmt::format("rank {}: {} in group '{}'", facts_.own_global_rank(),
                                      facts_.text_of(call), facts_.name));
  }
  return {};
}

Result<std::byte*> Communicator::see(int /*owner*/, std::span<std::byte> mine) {
  return size() == 1 ? mine.data() : nullptr;
}

comm::Work Communicator::start(const Call& call) {
  if (Status fine = check(call); !fine) return comm::Work::finished(std::move(fine));
  if (call.consumer != nullptr) {
    return comm::Work::finished(refused(
        Error(ErrorCode::kUsage, "start() takes no call with a consumer").with_remedy("Use run()."), facts_));
  }
  if (!trace_) return start_checked(call);
  comm::TracedCall record = traced(call, facts_.name);
  comm::Work work = start_checked(call);
  work.then([trace = trace_, record = std::move(record)](const Status&) { add_ended(*trace, record); });
  return work;
}

comm::Work Communicator::start_checked(const Call& call) {
  if (call.limit) return do_start(call);
  return do_start(call.within(facts_.limit));
}

Result<std::unique_ptr<Communicator>> Communicator::split(std::optional<int> colour, int key,
                                                          const std::string& name) {
  using Row = std::array<std::int64_t, 3>;
  const Row mine = {colour ? 1 : 0, colour.value_or(0), key};
  std::vector<std::int64_t> rows(static_cast<std::size_t>(size()) * mine.size());
  COHORT_RETURN_IF_ERROR(run(all_gather(std::span<const std::int64_t>(mine), std::span(rows))));

  std::vector<std::pair<std::int64_t, int>> order;
  for (int r = 0; r < size(); ++r) {
    const std::int64_t* row = rows.data() + static_cast<std::size_t>(r) * mine.size();
    if (colour && row[0] == 1 && row[1] == *colour) order.emplace_back(row[2], r);
  }
  std::sort(order.begin(), order.end());

  GroupFacts facts = facts_;
  facts.name = fmt::format("{}/{}", facts_.name, name);
  facts.world = static_cast<int>(order.size());
  std::vector<int> members;
  for (const auto& [unused_key, r] : order) {
    if (r == rank()) facts.rank = static_cast<int>(members.size());
    members.push_back(r);
  }
  facts.global_ranks = facts_.global(members);
  return do_split(facts, members);
}

}  // namespace cohort
