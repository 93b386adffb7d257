#include "mpi/calls.h"

#include "comm/group/rank_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::mpi {
namespace {

// How long a rank whose call was revoked waits for the message with the reason.
constexpr std::chrono::milliseconds kReasonLimit(1'000);

}  // namespace

Calls::Calls(Library& library, Attendance& attendance, Group group, OnFailure on_failure)
    : library_(library),
      attendance_(attendance),
      group_(std::move(group)),
      on_failure_(std::move(on_failure)) {}

Flight::Group Calls::flight_group() const {
  return {library_, group_.comm->handle(), group_.facts.rank, group_.facts.world};
}

std::optional<Status> Calls::explain(int code, TimePoint ended_at, const Call& call, std::uint64_t sequence) {
  const CohortMpiErrorKind kind = library_.shim().error_kind(code);
  if (kind == kCohortMpiPeerLost || kind == kCohortMpiRevoked) {
    if (const std::vector<int> lost = lost_ranks(); !lost.empty()) {
      const Error loss =
          Error(ErrorCode::kPeerLost, comm::ranks_have(lost) + " ended")
              .within(text(call, sequence))
              .with_rank(lost.front())
              .with_remedy(
                  "Call survivors() and form() and continue with the other ranks, or start the job again.");
      return fail_call(loss, call, sequence);
    }
  }
  if (has_failed()) return broken_off(call, sequence);
  // Another rank failed the group, and the message with the reason is in flight. Not every call of MPI
  // reports that as "revoked".
  if (library_.can_recover() && std::chrono::steady_clock::now() < ended_at + kReasonLimit) {
    return std::nullopt;
  }
  return fail_call(library_.error(code, "the collective of MPI failed").within(text(call, sequence)), call,
                   sequence);
}

std::vector<int> Calls::lost_ranks() {
  library_.look_for_losses();
  const std::vector<int> lost = library_.lost_ranks();
  std::vector<int> ranks;
  for (int r = 0; r < group_.facts.world; ++r) {
    const int world_rank = group_.world_ranks[static_cast<std::size_t>(r)];
    const bool is_lost = std::find(lost.begin(), lost.end(), world_rank) != lost.end();
    if (is_lost) ranks.push_back(group_.facts.global_rank(r));
  }
  return ranks;
}

bool Calls::fail(const Error& error) {
  if (!failure_.fail(error)) return false;
  group_.comm->revoke();
  on_failure_(error);
  return true;
}

Error Calls::fail_call(const Error& error, const Call& call, std::uint64_t sequence) {
  return fail(error) ? error : broken_off(call, sequence);
}

std::string Calls::text(const Call& call, std::uint64_t sequence) const {
  const std::string number = sequence == 0 ? "a call" : fmt::format("call {}", sequence);
  return fmt::format("rank {}: {}, {} of group '{}' (generation {})", group_.facts.own_global_rank(),
                     group_.facts.text_of(call), number, group_.facts.name, group_.facts.generation);
}

Error Calls::broken_off(const Call& call, std::uint64_t sequence) const {
  return failure_.failure()->within(text(call, sequence));
}

std::optional<Error> Calls::timed_out(const Call& call, std::uint64_t sequence) {
  attendance_.ask(sequence);
  const std::optional<std::vector<int>> missing = attendance_.missing();
  if (!missing) return std::nullopt;
  if (missing->empty()) {
    return Error(ErrorCode::kTimedOut,
                 "all ranks have arrived at this call, but MPI has not completed it before the deadline")
        .within(text(call, sequence))
        .with_remedy("Make the same calls in the same order on every rank, or give the call a longer limit.");
  }
  const std::vector<int> ranks = group_.facts.global(*missing);
  return Error(ErrorCode::kTimedOut, comm::ranks_have(ranks) + " not arrived")
      .within(text(call, sequence))
      .with_rank(ranks.front())
      .with_remedy("Look at what that rank is doing, or give the call a longer limit.");
}

Error Calls::never_begun(const Call& call) const {
  return Error(ErrorCode::kTimedOut,
               "the deadline passed while an earlier call of the group was still running")
      .within(text(call, 0));
}

std::optional<Error> Calls::deserted(const Call& call, std::uint64_t sequence) const {
  if (!attendance_.has_anybody_left()) return std::nullopt;
  const std::vector<int> left = group_.facts.global(attendance_.left_before(sequence));
  if (left.empty()) return std::nullopt;
  return Error(ErrorCode::kPeerLost, comm::ranks_have(left) + " left")
      .within(text(call, sequence))
      .with_rank(left.front());
}

Error Calls::closed() const {
  return {ErrorCode::kAborted, fmt::format("rank {}: group '{}' was closed before its pending calls ended",
                                           group_.facts.own_global_rank(), group_.facts.name)};
}

}  // namespace cohort::mpi
