#include "comm/conformance/scheduled_kind.h"

#include "comm/exchange.h"
#include "comm/scheduled/scheduled_communicator.h"

namespace cohort::test {
namespace {

// What one rank has besides its communicators.
struct Member {
  Member(const Network& network, int member)
      : doorbell(network.make_doorbell(member)),
        exchange(network.take(member), network.clock(), {}),
        progress(*doorbell) {
    exchange.open(*doorbell);
    progress.add(exchange);
  }
  ~Member() {
    progress.remove(exchange);
    exchange.close();
  }

  std::unique_ptr<comm::Doorbell> doorbell;
  comm::Exchange exchange;
  comm::Progress progress;
};

}  // namespace

Kind scheduled_kind(const NetworkKind& kind, const std::string& algorithm) {
  const std::string name = algorithm.empty() ? kind.name : kind.name + "_" + algorithm;
  const auto run = [name, kind, algorithm](int world, const SeatBody& body, const SeatOptions& options) {
    const Network network = kind.make(world);
    return run_world(world, [=](RankContext& rank) -> Status {
      Member member(network, rank.rank());
      COHORT_ASSIGN_OR_RETURN(std::unique_ptr<Communicator> communicator,
                              comm::ScheduledCommunicator::make_world(
                                  member.exchange, member.progress,
                                  {.generation = options.generation,
                                   .limit = options.limit,
                                   .kind = name,
                                   .scheduled = {.plan = {.algorithm = algorithm, .hosts = network.hosts}}}));
      Seat seat{rank, communicator};
      return body(seat);
    });
  };
  const bool is_virtual = kind.name.starts_with("simulated");
  return {.name = name, .run = run, .time = is_virtual ? KindTime::kVirtual : KindTime::kReal};
}

}  // namespace cohort::test
