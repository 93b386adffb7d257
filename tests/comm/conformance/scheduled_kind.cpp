#include "comm/conformance/scheduled_kind.h"

#include "comm/exchange_member.h"
#include "comm/scheduled/scheduled_communicator.h"

namespace cohort::test {

Kind scheduled_kind(const std::string& name, const Networks& networks, const std::string& algorithm) {
  const auto run = [name, networks, algorithm](int world, const SeatBody& body, const SeatOptions& options) {
    const TransportSource source = networks(world);
    return run_world(world, [=](RankContext& rank) -> Status {
      ExchangeMember member(source(rank.rank()));
      COHORT_ASSIGN_OR_RETURN(
          std::unique_ptr<Communicator> communicator,
          comm::ScheduledCommunicator::make_world(member.exchange(), member.progress(),
                                                  {.generation = options.generation,
                                                   .limit = options.limit,
                                                   .kind = name,
                                                   .scheduled = {.plan = {.algorithm = algorithm}}}));
      Seat seat{rank, communicator};
      return body(seat);
    });
  };
  return {.name = name, .run = run};
}

}  // namespace cohort::test
