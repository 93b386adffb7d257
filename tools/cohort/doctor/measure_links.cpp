#include "doctor/measure_links.h"

#include "comm/probe/link_probe.h"
#include "comm/shared_memory/arena.h"
#include "doctor/part_meeting.h"
#include "measure/clock_probe.h"
#include "world/hosts_world.h"
#include "world/open_meeting.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace cohort::tool {
namespace {

using namespace std::chrono_literals;
using comm::ProbeSender;
using machine::LinkReport;

using Pair = std::pair<int, int>;
using Rounds = std::vector<std::vector<Pair>>;

constexpr std::size_t kArenaBytes = std::size_t{32} << 20;

Rounds rounds_of(int world, PairsAtOnce pairs) {
  Rounds rounds = comm::probe_rounds(world);
  if (pairs == PairsAtOnce::kDisjoint) return rounds;
  Rounds single;
  for (const auto& round : rounds) {
    for (const Pair& pair : round) single.push_back({pair});
  }
  return single;
}

// A pair may need its limit to find out that it cannot communicate, and then the time for each direction.
std::chrono::nanoseconds round_limit(const LinkMeasuring& measuring) {
  return 4 * measuring.pair_limit + 20 * measuring.time;
}

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// One of the measuring ranks.
class MeasuringRank {
 public:
  using Say = std::function<void(const std::string& line)>;

  MeasuringRank(const LaunchFacts& facts, const LinkMeasuring& measuring, const Say& say)
      : facts_(facts), measuring_(measuring), say_(say) {}

  Status run() {
    COHORT_ASSIGN_OR_RETURN(const net::JobKey key, world::job_key(facts_));
    key_ = key;
    COHORT_ASSIGN_OR_RETURN(meeting_, world::open_meeting(facts_, key));
    COHORT_ASSIGN_OR_RETURN(arena_, Arena::create(kArenaBytes));
    COHORT_RETURN_IF_ERROR(come_together("start", measuring_.start_limit));
    std::uint32_t number = 0;
    for (const auto& round : rounds_of(facts_.world, measuring_.pairs)) {
      take_part(number, round);
      COHORT_RETURN_IF_ERROR(come_together(fmt::format("round {}", number), round_limit(measuring_)));
      ++number;
    }
    return {};
  }

 private:
  Status come_together(const std::string& name, std::chrono::nanoseconds limit) {
    const TimePoint deadline = deadline_after(std::chrono::steady_clock::now(), limit);
    COHORT_RETURN_IF_ERROR(meeting_->gather(
        {.name = name, .rank = facts_.rank, .world = facts_.world, .deadline = deadline}, ""));
    return {};
  }

  // A rank without a partner in this round forms a world of its own, so that all ranks meet equally often.
  void take_part(std::uint32_t round, const std::vector<Pair>& pairs) {
    for (const auto& [low, high] : pairs) {
      if (facts_.rank != low && facts_.rank != high) continue;
      if (std::ranges::count(measuring_.left_out, Pair(low, high)) > 0) break;
      if (const Status status = measure(round, low, high); !status) say_failure(low, high, status.error());
      return;
    }
    (void)form(round, {facts_.rank});
  }

  Result<std::unique_ptr<Communicator>> form(std::uint32_t round, const std::vector<int>& members) {
    part_.emplace(*meeting_, PartMeeting::Seat{facts_.rank, facts_.world}, members);
    world::HostsWorld part(
        *part_, *arena_, *key_,
        {.rank = facts_.rank == members.front() ? 0 : 1,
         .world = static_cast<int>(members.size()),
         .link_limit = 2 * measuring_.pair_limit,  // a failed connection is reported first, with its address
         .meeting_limit = measuring_.pair_limit,
         .secrecy = facts_.links.encrypts ? net::Secrecy::kTls : net::Secrecy::kClear,
         .interfaces = facts_.links.interfaces,
         .pricing = world::Pricing{}});  // measures nothing in advance and does not pace
    return part.form(round);
  }

  // The lower rank reports for both.
  Status measure(std::uint32_t round, int low, int high) {
    const bool speaks = facts_.rank == low;
    COHORT_ASSIGN_OR_RETURN(const auto group, form(round, {low, high}));
    const std::chrono::nanoseconds limit = measuring_.pair_limit + 10 * measuring_.time;
    for (const ProbeSender sender : {ProbeSender::kLowerRank, ProbeSender::kHigherRank}) {
      COHORT_ASSIGN_OR_RETURN(const comm::LinkFigures found,
                              comm::probe_link(*group, 1 - group->rank(),
                                               {.sender = sender, .time = measuring_.time, .limit = limit}));
      const bool is_up = sender == ProbeSender::kLowerRank;
      const LinkReport link{.from = is_up ? low : high,
                            .to = is_up ? high : low,
                            .cost = machine::LinkCost{found.latency_s, found.byte_s}};
      if (speaks) say_(link_line(link));
    }
    if (low != 0) return {};
    COHORT_ASSIGN_OR_RETURN(const measure::ClockOffset clock,
                            measure::probe_clock(*group, 1 - group->rank(), {.limit = limit}));
    if (speaks) say_(clock_line(high, {seconds(clock.offset), seconds(clock.error)}));
    return {};
  }

  void say_failure(int low, int high, const Error& error) {
    say_(link_line({.from = low, .to = high, .cost = {}, .failure = error.root().message()}));
    say_(link_line({.from = high, .to = low, .cost = {}, .failure = error.root().message()}));
  }

  const LaunchFacts& facts_;
  const LinkMeasuring& measuring_;
  const Say& say_;
  std::optional<net::JobKey> key_;
  std::unique_ptr<net::Meeting> meeting_;
  std::unique_ptr<Arena> arena_;
  std::optional<PartMeeting> part_;  // must outlive the communicators that met there
};

}  // namespace

std::chrono::nanoseconds longest_measuring(int ranks, const LinkMeasuring& measuring) {
  const auto rounds = static_cast<std::int64_t>(rounds_of(ranks, measuring.pairs).size());
  return measuring.start_limit + rounds * 2 * round_limit(measuring);
}

Status measure_links(const LaunchFacts& facts, const LinkMeasuring& measuring,
                     const std::function<void(const std::string& line)>& say) {
  return MeasuringRank(facts, measuring, say).run();
}

}  // namespace cohort::tool
