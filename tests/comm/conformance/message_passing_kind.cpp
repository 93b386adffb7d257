#include "comm/conformance/message_passing_kind.h"

#include "comm/message_passing/communicator.h"
#include "comm/message_passing_member.h"

namespace cohort::test {
namespace {

// No member freezes in these tests, but threads of many ranks on few cores may wait long for a core.
constexpr std::chrono::seconds kLiveness(10);

std::shared_ptr<comm::HostGroups> host_groups_of(const Network& network, MessagePassingMember& member,
                                                 const std::shared_ptr<comm::GroupNumbers>& numbers) {
  if (!network.host_groups) return nullptr;
  return network.host_groups(member.exchange.member(), member.exchange, member.progress, numbers);
}

}  // namespace

Kind message_passing_kind(const NetworkKind& kind, const PlanFacts& facts) {
  const std::string name = facts.name.empty() ? kind.name : kind.name + "_" + facts.name;
  const auto run = [name, kind, plan = facts.plan](int world, const SeatBody& body,
                                                   const SeatOptions& options) {
    const Network network = kind.make(world);
    return run_world(world, [=](RankContext& rank) -> Status {
      MessagePassingMember member(network.take(rank.rank()), network, rank.rank(), {.liveness = kLiveness});
      comm::PlanOptions here = plan;
      here.hosts = network.hosts;
      const auto numbers = std::make_shared<comm::GroupNumbers>(
          comm::MessagePassingCommunicator::kFirstSplitGroup, rank.rank(), world);
      COHORT_ASSIGN_OR_RETURN(std::unique_ptr<Communicator> communicator,
                              comm::MessagePassingCommunicator::make_world(
                                  member.exchange, member.progress,
                                  {.generation = options.generation,
                                   .limit = options.limit,
                                   .kind = name,
                                   .message_passing = {.plan = std::move(here)},
                                   .host_groups = host_groups_of(network, member, numbers),
                                   .numbers = numbers}));
      Seat seat{rank, communicator};
      if (network.arena) seat.arena = &network.arena(rank.rank());
      return body(seat);
    });
  };
  const bool is_virtual = kind.name.starts_with("simulated");
  Kind made{.name = name, .run = run, .time = is_virtual ? KindTime::kVirtual : KindTime::kReal};
  if (facts.plan.wire != WireDType::kSame) {
    made.lacks[Ability::kRoundsOnce] = "what travels is rounded on its way";
  }
  return made;
}

Kind message_passing_kind(const NetworkKind& network, std::optional<CollectiveAlgorithm> algorithm) {
  const std::string word(algorithm ? name(*algorithm) : "");
  return message_passing_kind(network, PlanFacts{.name = word, .plan = {.algorithm = algorithm}});
}

}  // namespace cohort::test
