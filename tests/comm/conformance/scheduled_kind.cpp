#include "comm/conformance/scheduled_kind.h"

#include "comm/scheduled/scheduled_communicator.h"
#include "comm/scheduled_member.h"

namespace cohort::test {
namespace {

// Nobody freezes here; threads of many ranks on few cores may have to wait for their turn.
constexpr std::chrono::seconds kLiveness(10);

}  // namespace

Kind scheduled_kind(const NetworkKind& kind, const PlanFacts& facts) {
  const std::string name = facts.name.empty() ? kind.name : kind.name + "_" + facts.name;
  const auto run = [name, kind, plan = facts.plan](int world, const SeatBody& body,
                                                   const SeatOptions& options) {
    const Network network = kind.make(world);
    return run_world(world, [=](RankContext& rank) -> Status {
      ScheduledMember member(network.take(rank.rank()), network, rank.rank(), {.liveness = kLiveness});
      comm::PlanOptions here = plan;
      here.hosts = network.hosts;
      COHORT_ASSIGN_OR_RETURN(
          std::unique_ptr<Communicator> communicator,
          comm::ScheduledCommunicator::make_world(member.exchange, member.progress,
                                                  {.generation = options.generation,
                                                   .limit = options.limit,
                                                   .kind = name,
                                                   .scheduled = {.plan = std::move(here)}}));
      Seat seat{rank, communicator};
      return body(seat);
    });
  };
  const bool is_virtual = kind.name.starts_with("simulated");
  Kind made{.name = name, .run = run, .time = is_virtual ? KindTime::kVirtual : KindTime::kReal};
  if (facts.plan.wire != comm::WireDType::kSame) {
    made.lacks[Ability::kRoundsOnce] = "what travels is rounded on its way";
  }
  return made;
}

Kind scheduled_kind(const NetworkKind& network, const std::string& algorithm) {
  return scheduled_kind(network, PlanFacts{.name = algorithm, .plan = {.algorithm = algorithm}});
}

}  // namespace cohort::test
