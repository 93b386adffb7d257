#include "comm/conformance/kind.h"
#include "comm/scheduled/scheduled_communicator.h"
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

// One rank of the world is this process; those that are not in it wait until it is over.
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
  // Others may be in the middle of a call with this rank: there is no way on from here.
  if (!outcome.ok()) end_job(outcome.text());
  if (const Status met =
          own.barrier(own.library->messages(), std::chrono::steady_clock::now() + std::chrono::seconds(30));
      !met) {
    end_job(met.error().text());
  }
  if (meeting) own.library->shim().release(*meeting);
  return outcome;
}

// Where a call cannot be taken back nothing but the end of the job ends it.
void end_unless_it_can_go_on(const Error& error) {
  if (!own_mpi().library->can_recover()) end_job(error.text());
}

MakeCommunicator native(mpi::Waiting waiting) {
  return
      [waiting](CohortMpiHandle comm, const SeatOptions& options) -> Result<std::unique_ptr<Communicator>> {
        mpi::CommunicatorOptions wanted{
            .generation = options.generation, .limit = options.limit, .waiting = waiting};
        if (waiting == mpi::Waiting::kWatched) wanted.on_failure = end_unless_it_can_go_on;
        COHORT_ASSIGN_OR_RETURN(auto made, mpi::MpiCommunicator::adopt(own_mpi().library, comm, wanted));
        return std::unique_ptr<Communicator>(std::move(made));
      };
}

Kind native_kind(const std::string& name, mpi::Waiting waiting) {
  const auto run = [waiting](int world, const SeatBody& body, const SeatOptions& options) {
    return run_among_processes(world, native(waiting), body, options);
  };
  Kind kind{.name = name, .run = run, .largest_world = own_mpi().library->world()};
  kind.lacks[Ability::kComparesCalls] = "MPI does not compare the calls of ranks";
  if (!own_mpi().library->can_recover()) {
    // Memory of a call that was given up is in the hands of MPI: the test cannot go on. See failure_test.sh.
    for (const Ability ability : {Ability::kEndsCalls, Ability::kNamesAbsent, Ability::kNoticesLeaving}) {
      kind.lacks[ability] = "this MPI takes no call back that has begun";
    }
    if (waiting == mpi::Waiting::kWatched) {
      kind.lacks[Ability::kOutlivesFailure] = "with this MPI a failure ends the process";
    }
  }
  return kind;
}

/// A scheduled communicator that keeps what carries its messages.
class OverMessages final : public Communicator {
 public:
  static Result<std::unique_ptr<Communicator>> make(CohortMpiHandle comm, const SeatOptions& options) {
    const TimePoint deadline = std::chrono::steady_clock::now() + options.limit;
    COHORT_ASSIGN_OR_RETURN(std::shared_ptr<mpi::Member> member,
                            mpi::Member::open(own_mpi().library, comm, deadline));
    own_mpi().library->shim().release(comm);
    COHORT_ASSIGN_OR_RETURN(
        std::unique_ptr<Communicator> scheduled,
        comm::ScheduledCommunicator::make_world(
            member->exchange(), member->progress(),
            {.generation = options.generation, .limit = options.limit, .kind = "mpi_messages"}));
    return std::unique_ptr<Communicator>(new OverMessages(std::move(member), std::move(scheduled)));
  }

  CommunicatorTraits traits() const override { return inner_->traits(); }
  std::unique_ptr<Mailbox> open_mailbox() override { return inner_->open_mailbox(); }
  void abort(const Error& cause) override { inner_->abort(cause); }
  std::optional<Error> failure() const override { return inner_->failure(); }

 private:
  OverMessages(std::shared_ptr<mpi::Member> member, std::unique_ptr<Communicator> inner)
      : Communicator(inner->facts()), member_(std::move(member)), inner_(std::move(inner)) {}
  Status do_run(const Call& call) override { return inner_->run(call); }
  Work do_start(const Call& call) override { return inner_->start(call); }
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
  return {.name = "mpi_messages", .run = run, .largest_world = own_mpi().library->world()};
}

}  // namespace

std::vector<Kind> all_kinds() {
  return {native_kind("mpi", mpi::Waiting::kBounded), native_kind("mpi_watched", mpi::Waiting::kWatched),
          messages_kind()};
}

}  // namespace cohort::test
