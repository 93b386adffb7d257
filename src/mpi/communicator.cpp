#include "mpi/communicator.h"

#include "comm/exchange_mailbox.h"
#include "mpi/agree.h"
#include "mpi/bounded_calls.h"
#include "mpi/watched_calls.h"

#include <fmt/format.h>
#include <limits>
#include <numeric>

namespace cohort::mpi {
namespace {

constexpr std::uint32_t kWorldGroup = 1;

bool is_message(Operation operation) {
  return operation == Operation::kSend || operation == Operation::kReceive;
}

std::vector<int> ranks_up_to(int world) {
  std::vector<int> ranks(static_cast<std::size_t>(world));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace

Result<std::unique_ptr<MpiCommunicator>> MpiCommunicator::make_world(const std::shared_ptr<Library>& library,
                                                                     const CommunicatorOptions& options) {
  CohortMpiHandle comm = 0;
  COHORT_RETURN_IF_ERROR(library->status(library->shim().duplicate(library->shim().world(), &comm),
                                         "MPI has no room for another group"));
  return adopt(library, comm, options);
}

Result<std::unique_ptr<MpiCommunicator>> MpiCommunicator::adopt(const std::shared_ptr<Library>& library,
                                                                CohortMpiHandle comm,
                                                                const CommunicatorOptions& options) {
  if (options.waiting == Waiting::kWatched && !library->can_recover() && !options.on_failure) {
    return Error(ErrorCode::kUsage, fmt::format("{} cannot end a call that is late", library->text()))
        .with_remedy("Give it on_failure, which ends the process, or let calls be bounded.");
  }
  COHORT_ASSIGN_OR_RETURN(
      std::shared_ptr<Member> member,
      Member::open(library, comm, deadline_after(std::chrono::steady_clock::now(), options.limit)));
  const GroupFacts facts{.name = options.name,
                         .rank = member->exchange().member(),
                         .world = member->exchange().num_members(),
                         .generation = options.generation,
                         .limit = options.limit};
  const comm::Line::Place place{.group = kWorldGroup,
                                .generation = facts.generation,
                                .members = ranks_up_to(facts.world),
                                .rank = facts.rank};
  Calls::Group group{.facts = facts, .comm = comm, .world_ranks = member->world_ranks()};
  return std::unique_ptr<MpiCommunicator>(
      new MpiCommunicator({std::move(member), options.on_failure, options.waiting}, std::move(group), place));
}

MpiCommunicator::MpiCommunicator(Shared shared, Calls::Group group, comm::Line::Place place)
    : Communicator(group.facts),
      shared_(std::move(shared)),
      member_(*shared_.member),
      comm_(group.comm),
      world_ranks_(group.world_ranks),
      attendance_(member_, place),
      calls_(make_calls(std::move(group))),
      messages_(member_.exchange(), member_.progress(), facts(), std::move(place),
                {.on_failure = [this](const Error& error) { (void)calls_->fail(error); }}) {
  member_.progress().add(*calls_);
  member_.progress().add(messages_);
}

std::unique_ptr<Calls> MpiCommunicator::make_calls(Calls::Group group) {
  const auto on_failure = [this](const Error& error) { spread(error); };
  if (shared_.waiting == Waiting::kWatched) {
    return std::make_unique<WatchedCalls>(member_.library(), attendance_, std::move(group), on_failure);
  }
  return std::make_unique<BoundedCalls>(member_.library(), attendance_, std::move(group), on_failure);
}

MpiCommunicator::~MpiCommunicator() {
  member_.progress().remove(*calls_);
  member_.progress().remove(messages_);
  calls_->close();
  if (!calls_->failure()) attendance_.leave();
  messages_.leave();
  // A revocation may still be on its way to others and must not meet a new group under the same number.
  const bool is_revoked = calls_->failure() && member_.library().can_recover();
  if (calls_->is_clean() && !is_revoked) member_.library().shim().release(comm_);
}

CommunicatorTraits MpiCommunicator::traits() const {
  return {.kind = "mpi", .abortable = member_.library().can_recover(), .zero_copy = false};
}

std::unique_ptr<Mailbox> MpiCommunicator::open_mailbox() {
  return comm::make_mailbox(member_.exchange(), member_.progress(), {.generation = generation()});
}

void MpiCommunicator::abort(const Error& cause) {
  (void)calls_->fail(
      Error(ErrorCode::kAborted, fmt::format("rank {} aborted the group: {}", rank(), cause.text())));
}

void MpiCommunicator::spread(const Error& error) {
  messages_.abort(error);
  if (shared_.on_failure) shared_.on_failure(error);
}

Status MpiCommunicator::do_run(const Call& call) {
  if (is_message(call.operation)) return do_start(call.within(limit_of(call))).wait();
  return calls_->run(call);
}

Work MpiCommunicator::do_start(const Call& call) {
  if (is_message(call.operation)) {
    member_.stir();
    return messages_.start(call);
  }
  Work work = calls_->start(call);
  member_.progress().wake();
  return work;
}

Result<std::unique_ptr<Communicator>> MpiCommunicator::do_split(const GroupFacts& facts,
                                                                const std::vector<int>& members) {
  Library& library = member_.library();
  const int colour = members.empty() ? COHORT_MPI_NO_COLOUR : members.front();
  CohortMpiHandle comm = 0;
  COHORT_RETURN_IF_ERROR(library.status(library.shim().split(comm_, colour, facts.rank, &comm),
                                        fmt::format("MPI cannot split group '{}'", group_name())));
  if (members.empty()) return std::unique_ptr<Communicator>();
  const TimePoint deadline = deadline_after(std::chrono::steady_clock::now(), facts.limit);
  COHORT_ASSIGN_OR_RETURN(const std::int64_t group, agree(library, {library, comm, facts.rank, facts.world},
                                                          member_.fresh_group(), deadline));
  comm::Line::Place place{
      .group = static_cast<std::uint32_t>(group), .generation = facts.generation, .rank = facts.rank};
  Calls::Group part{.facts = facts, .comm = comm};
  for (const int r : members) {
    place.members.push_back(messages_.place().members[static_cast<std::size_t>(r)]);
    part.world_ranks.push_back(world_ranks_[static_cast<std::size_t>(r)]);
  }
  return std::unique_ptr<Communicator>(new MpiCommunicator(shared_, std::move(part), std::move(place)));
}

Result<std::unique_ptr<MpiCommunicator>> MpiCommunicator::shrink() {
  Library& library = member_.library();
  if (!library.can_recover()) {
    return Error(ErrorCode::kUnsupported, fmt::format("{} does not go on without lost ranks", library.text()))
        .with_remedy("Start the job with Open MPI 5: mpirun --with-ft ulfm. Or start it again.");
  }
  abort(Error(ErrorCode::kAborted, "the group is made smaller"));
  CohortMpiHandle comm = 0;
  COHORT_RETURN_IF_ERROR(library.status(library.shim().shrink(comm_, &comm), "MPI cannot shrink the group"));
  return adopt(shared_.member->shared_library(), comm,
               {.name = group_name(),
                .generation = generation() + 1,
                .limit = facts().limit,
                .on_failure = shared_.on_failure,
                .waiting = shared_.waiting});
}

}  // namespace cohort::mpi
