#include "comm/conformance/kind.h"
#include "comm/message_passing/communicator.h"
#include "mpi/communicator.h"
#include "mpi/own_mpi.h"

namespace cohort::test {
namespace {

using MakeCommunicator =
    std::function<Result<std::unique_ptr<Communicator>>(CohortMpiHandle comm, const SeatOptions& options)>;

Status sit(RankContext& own, const RankContext::AmongProcesses& place, CohortMpiHandle comm,
           const MakeCommunicator& make, const SeatBody& body, const SeatOptions& options) {
  RankContext rank(own, place);
  COHORT_ASSIGN_OR_RETURN(std::unique_ptr<Communicator> communicator, make(comm, options));
  Seat seat{rank, communicator};
  return body(seat);
}

// This process is one rank of the world; processes outside the world wait until the case is over.
WorldOutcome run_among_processes(int world, const MakeCommunicator& make, const SeatBody& body,
                                 const SeatOptions& options) {
  const OwnMpi& own = own_mpi();
  const std::optional<CohortMpiHandle> comm = own.first_ranks(world);
  const std::optional<CohortMpiHandle> meeting = own.first_ranks(world);
  const RankContext::AmongProcesses place{
      own.library->rank(), world, [&](TimePoint deadline) { return own.barrier(*meeting, deadline); }};
  WorldOutcome outcome = run_world(1, [&](RankContext& rank) -> Status {
    return comm ? sit(rank, place, *comm, make, body, options) : Status();
  });
  // Other ranks may be in a call with this rank, so the job cannot continue.
  if (!outcome.ok()) end_job(outcome.text());
  if (const Status met =
          own.barrier(own.library->messages(), std::chrono::steady_clock::now() + std::chrono::seconds(30));
      !met) {
    end_job(met.error().text());
  }
  if (meeting) own.library->shim().release(*meeting);
  return outcome;
}

// If MPI cannot revoke a call, only the end of the job ends it.
void end_unless_it_can_go_on(const Error& error) {
  if (!own_mpi().library->can_recover()) end_job(error.text());
}

Result<std::unique_ptr<Communicator>> make_native(CohortMpiHandle comm, const SeatOptions& options) {
  COHORT_ASSIGN_OR_RETURN(
      auto made,
      mpi::MpiCommunicator::adopt(
          own_mpi().library, std::make_shared<mpi::SharedComm>(own_mpi().library, comm),
          {.generation = options.generation, .limit = options.limit, .on_failure = end_unless_it_can_go_on}));
  return std::unique_ptr<Communicator>(std::move(made));
}

Kind native_kind() {
  const auto run = [](int world, const SeatBody& body, const SeatOptions& options) {
    return run_among_processes(world, make_native, body, options);
  };
  Kind kind{.name = "mpi", .run = run, .largest_world = own_mpi().library->size()};
  kind.lacks[Ability::kComparesCalls] = "MPI does not compare the calls of ranks";
  if (!own_mpi().library->can_recover()) {
    // MPI still uses the memory of a call that was given up, so the test cannot continue. See
    // failure_test.sh.
    for (const Ability ability : {Ability::kEndsCalls, Ability::kNamesAbsent, Ability::kNoticesLeaving}) {
      kind.lacks[ability] = "this MPI cannot revoke a call that has begun";
    }
    kind.lacks[Ability::kOutlivesFailure] = "with this MPI a failure ends the process";
  }
  return kind;
}

/// A message-passing communicator over MPI messages, which owns its exchange.
class OverMessages final : public Communicator {
 public:
  static Result<std::unique_ptr<Communicator>> make(CohortMpiHandle comm, const SeatOptions& options) {
    const TimePoint deadline = std::chrono::steady_clock::now() + options.limit;
    COHORT_ASSIGN_OR_RETURN(std::shared_ptr<mpi::Member> member,
                            mpi::Member::open(own_mpi().library, comm, deadline));
    own_mpi().library->shim().release(comm);
    COHORT_ASSIGN_OR_RETURN(
        std::unique_ptr<Communicator> inner,
        comm::MessagePassingCommunicator::make_world(
            member->exchange(), member->progress(),
            {.generation = options.generation, .limit = options.limit, .kind = "mpi_messages"}));
    return std::unique_ptr<Communicator>(new OverMessages(std::move(member), std::move(inner)));
  }

  CommunicatorTraits traits() const override { return inner_->traits(); }
  std::unique_ptr<Mailbox> open_mailbox() override { return inner_->open_mailbox(); }
  void abort(const Error& cause) override { inner_->abort(cause); }
  std::optional<Error> failure() const override { return inner_->failure(); }

 private:
  OverMessages(std::shared_ptr<mpi::Member> member, std::unique_ptr<Communicator> inner)
      : Communicator(inner->facts()), member_(std::move(member)), inner_(std::move(inner)) {}
  Status do_run(const Call& call) override { return inner_->run(call); }
  comm::Work do_start(const Call& call) override { return inner_->start(call); }
  Result<std::unique_ptr<Communicator>> do_split(const GroupFacts& facts,
                                                 const std::vector<int>& members) override {
    const std::string name = facts.name.substr(group_name().size() + 1);
    const auto colour = members.empty() ? std::nullopt : std::optional(members.front());
    return inner_->split(colour, facts.rank, name);
  }

  const std::shared_ptr<mpi::Member> member_;
  const std::unique_ptr<Communicator> inner_;
};

Kind messages_kind() {
  const auto run = [](int world, const SeatBody& body, const SeatOptions& options) {
    return run_among_processes(world, OverMessages::make, body, options);
  };
  return {.name = "mpi_messages", .run = run, .largest_world = own_mpi().library->size()};
}

}  // namespace

std::vector<Kind> all_kinds() {
  return {native_kind(), messages_kind()};
}

}  // namespace cohort::test
