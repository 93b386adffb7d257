#include "mpi/communicator.h"

#include "comm/exchange/exchange_mailbox.h"

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
                                         "cannot create a communicator for the group (MPI_Comm_dup)"));
  return adopt(library, std::make_shared<SharedComm>(library, comm), options);
}

Result<std::unique_ptr<MpiCommunicator>> MpiCommunicator::adopt(const std::shared_ptr<Library>& library,
                                                                const std::shared_ptr<SharedComm>& comm,
                                                                const CommunicatorOptions& options) {
  if (!library->can_recover() && !options.on_failure) {
    return Error(ErrorCode::kUsage,
                 fmt::format("{} cannot end a collective call whose deadline has passed, and "
                             "CommunicatorOptions::on_failure is empty",
                             library->text()))
        .with_remedy("Set on_failure to a function that ends the process.");
  }
  COHORT_ASSIGN_OR_RETURN(
      std::shared_ptr<Member> member,
      Member::open(library, comm->handle(), deadline_after(std::chrono::steady_clock::now(), options.limit)));
  const GroupFacts facts{.name = options.name,
                         .rank = member->exchange().member(),
                         .world = member->exchange().num_members(),
                         .generation = options.generation,
                         .limit = options.limit,
                         .end = options.end};
  const comm::Line::Membership membership{.group = kWorldGroup,
                                          .generation = facts.generation,
                                          .members = ranks_up_to(facts.world),
                                          .rank = facts.rank};
  Calls::Group group{.facts = facts, .comm = comm, .world_ranks = member->world_ranks()};
  return std::unique_ptr<MpiCommunicator>(
      new MpiCommunicator({std::move(member), options.on_failure}, std::move(group), membership));
}

MpiCommunicator::MpiCommunicator(Shared shared, Calls::Group group, comm::Line::Membership membership)
    : Communicator(group.facts),
      shared_(std::move(shared)),
      member_(*shared_.member),
      comm_(group.comm),
      world_ranks_(group.world_ranks),
      attendance_(member_, membership),
      calls_(member_.library(), attendance_, std::move(group), [this](const Error& error) { spread(error); }),
      messages_(member_.exchange(), member_.progress(), facts(), std::move(membership),
                {.on_failure = [this](const Error& error) { (void)calls_.fail(error); }}) {
  member_.progress().add(calls_);
  member_.progress().add(messages_);
}

MpiCommunicator::~MpiCommunicator() {
  member_.progress().remove(calls_);
  member_.progress().remove(messages_);
  calls_.close();
  if (!calls_.failure()) attendance_.leave();
  messages_.leave();
}

CommunicatorTraits MpiCommunicator::traits() const {
  return {.kind = "mpi", .abortable = member_.library().can_recover(), .zero_copy = false};
}

std::unique_ptr<Mailbox> MpiCommunicator::open_mailbox() {
  return comm::make_mailbox(member_.exchange(), member_.progress(), {.generation = generation()});
}

void MpiCommunicator::abort(const Error& cause) {
  const Error error(ErrorCode::kAborted,
                    fmt::format("rank {} aborted the group: {}", facts().own_global_rank(), cause.text()));
  (void)calls_.fail(cause.rank() ? error.with_rank(*cause.rank()) : error);
}

void MpiCommunicator::spread(const Error& error) {
  messages_.abort(error);
  if (shared_.on_failure) shared_.on_failure(error);
}

Status MpiCommunicator::do_run(const Call& call) {
  if (is_message(call.operation)) return do_start(call.within(limit_of(call))).wait();
  return calls_.run(call);
}

comm::Work MpiCommunicator::do_start(const Call& call) {
  if (is_message(call.operation)) {
    member_.stir();
    return messages_.start(call);
  }
  comm::Work work = calls_.start(call);
  member_.progress().wake();
  return work;
}

Result<std::unique_ptr<Communicator>> MpiCommunicator::do_split(const GroupFacts& facts,
                                                                const std::vector<int>& members) {
  Library& library = member_.library();
  const int colour = members.empty() ? COHORT_MPI_NO_COLOUR : members.front();
  CohortMpiHandle comm = 0;
  COHORT_RETURN_IF_ERROR(
      library.status(library.shim().split(comm_->handle(), colour, facts.rank, &comm),
                     fmt::format("cannot split group '{}' (MPI_Comm_split)", group_name())));
  if (members.empty()) return std::unique_ptr<Communicator>();
  const auto part_comm = std::make_shared<SharedComm>(member_.shared_library(), comm);
  const TimePoint deadline = deadline_after(std::chrono::steady_clock::now(), facts.limit);
  COHORT_ASSIGN_OR_RETURN(const std::int64_t group, agree(library, {library, comm, facts.rank, facts.world},
                                                          member_.fresh_group(), deadline));
  comm::Line::Membership membership{
      .group = static_cast<std::uint32_t>(group), .generation = facts.generation, .rank = facts.rank};
  Calls::Group part{.facts = facts, .comm = part_comm};
  for (const int r : members) {
    membership.members.push_back(messages_.membership().members[static_cast<std::size_t>(r)]);
    part.world_ranks.push_back(world_ranks_[static_cast<std::size_t>(r)]);
  }
  return std::unique_ptr<Communicator>(new MpiCommunicator(shared_, std::move(part), std::move(membership)));
}

}  // namespace cohort::mpi
