#include "bench/ranks_bench.h"

#include "bench/bare_ring.h"
#include "bench/bench_communicator.h"
#include "comm/schedule/algorithm.h"
#include "world/hosts_world.h"
#include "world/open_meeting.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace cohort::tool {
namespace {

using measure::BenchOperation;
using namespace std::chrono_literals;

constexpr double kMostIterations = 64;
constexpr std::size_t kWarmUpElements = 16384;
constexpr auto kCallLimit = 5min;
constexpr int kRingsInARound = 2;

/// An algorithm that is forced, or nothing: the chosen algorithm.
using Forced = std::optional<CollectiveAlgorithm>;

/// An operation at a size with one algorithm.
struct MeasuredCell {
  BenchOperation operation{};
  std::uint64_t bytes = 0;
  Forced algorithm{};
  auto operator<=>(const MeasuredCell&) const = default;
};

// A buffer for planning only: it has a size but no memory.
Call call_of(BenchOperation operation, std::size_t elements, int ranks) {
  const Numbers whole(nullptr, elements, DType::kF32);
  const Numbers part(nullptr, elements / static_cast<std::size_t>(ranks), DType::kF32);
  switch (operation) {
    case BenchOperation::kReduceScatter:
      return reduce_scatter(ConstNumbers(whole), part);
    case BenchOperation::kAllGather:
      return all_gather(ConstNumbers(part), whole);
    case BenchOperation::kBroadcast:
      return broadcast(whole, 0);
    case BenchOperation::kAllToAll:
      return all_to_all(ConstNumbers(whole), whole);
    case BenchOperation::kReduce:
      return reduce(ConstNumbers(whole), whole, 0);
    case BenchOperation::kGather:
      return gather(ConstNumbers(part), whole, 0);
    case BenchOperation::kScatter:
      return scatter(ConstNumbers(whole), part, 0);
    case BenchOperation::kBarrier:
      return barrier();
    default:
      return all_reduce(whole);
  }
}

/// All rounds of a benchmark on one rank.
class RanksBench {
 public:
  RanksBench(const LaunchFacts& facts, const RanksBenchOptions& options, net::Meeting& meeting,
             const net::JobKey& key)
      : facts_(facts), options_(options), meeting_(meeting), key_(key) {}

  Result<RanksReport> run() {
    COHORT_ASSIGN_OR_RETURN(arena_, Arena::create());
    std::vector<Forced> turns(options_.algorithms.begin(), options_.algorithms.end());
    if (turns.empty()) turns.push_back(std::nullopt);
    for (int round = 0; round < options_.rounds; ++round) {
      for (const Forced& algorithm : turns) {
        COHORT_RETURN_IF_ERROR(take_turn(algorithm).within(
            fmt::format("round {} of {}", round, algorithm ? name(*algorithm) : "the chosen algorithm")));
      }
    }
    return report();
  }

 private:
  Status take_turn(const Forced& algorithm) {
    world::HostsWorld world(meeting_, *arena_, key_,
                            {.rank = facts_.rank,
                             .world = facts_.world,
                             .limit = kCallLimit,
                             .secrecy = facts_.links.encrypts ? net::Secrecy::kTls : net::Secrecy::kClear,
                             .interfaces = facts_.links.interfaces,
                             .links = links_of(algorithm),
                             .pricing = pricing_,
                             .link_cache = facts_.links.cache});
    BenchCommunicator bench;
    COHORT_ASSIGN_OR_RETURN(bench.arena, Arena::create());
    bench.memory = std::make_unique<BenchMemory>(*bench.arena);
    COHORT_ASSIGN_OR_RETURN(bench.group, world.form(generation_++));
    plan_ = world.plan();
    pricing_ = world.pricing();
    Communicator& group = *bench.group;
    COHORT_RETURN_IF_ERROR(measure_link(group));
    CommunicatorContender contender(std::move(bench));
    COHORT_RETURN_IF_ERROR(warm_up(group));
    for (const BenchOperation operation : options_.operations) {
      for (const std::uint64_t bytes : options_.sizes) {
        COHORT_RETURN_IF_ERROR(measure_cell(contender, group, {operation, bytes, algorithm}));
      }
    }
    return group.run(barrier());
  }

  LinkSettings links_of(const Forced& algorithm) const {
    LinkSettings links = facts_.links.settings;
    links.algorithm = algorithm;
    if (options_.chunk_bytes) links.chunk_bytes = options_.chunk_bytes;
    return links;
  }

  Status warm_up(Communicator& group) {
    std::vector<float> numbers(kWarmUpElements);
    for (int i = 0; i < 4; ++i) COHORT_RETURN_IF_ERROR(group.run(all_reduce(std::span(numbers))));
    return {};
  }

  // As many bytes as the largest cell.
  Status measure_link(Communicator& group) {
    if (!ring_) {
      COHORT_ASSIGN_OR_RETURN(BareRing ring, BareRing::open(group, facts_.links.interfaces));
      ring_.emplace(std::move(ring));
      COHORT_RETURN_IF_ERROR(ring_->seconds_of_all(std::size_t{1} << 20, kCallLimit));
    }
    link_bytes_ = std::max<std::uint64_t>(options_.sizes.back(), std::uint64_t{1} << 20);
    COHORT_RETURN_IF_ERROR(group.run(barrier()));
    COHORT_ASSIGN_OR_RETURN(const double seconds, ring_->seconds_of_one(link_bytes_, kCallLimit));
    link_samples_.push_back(seconds * 1e9);
    for (int i = 0; i < kRingsInARound; ++i) {
      COHORT_RETURN_IF_ERROR(group.run(barrier()));
      COHORT_ASSIGN_OR_RETURN(double slowest, ring_->seconds_of_all(link_bytes_, kCallLimit));
      COHORT_RETURN_IF_ERROR(group.run(all_reduce(std::span(&slowest, 1), ReduceOp::kMax)));
      ring_samples_.push_back(slowest * 1e9);
    }
    return group.run(barrier());  // no rank sends anything else meanwhile
  }

  Status measure_cell(CommunicatorContender& contender, Communicator& group, const MeasuredCell& cell) {
    if (!can_run(cell)) return {};
    COHORT_ASSIGN_OR_RETURN(const std::uint32_t iterations, iterations_of(contender, group, cell));
    return sample(contender, group, cell, iterations);
  }

  bool can_run(const MeasuredCell& cell) const {
    return !cell.algorithm || comm::serves(comm::algorithm_of(*cell.algorithm), facts_of_cell(cell));
  }

  // The first turn takes one sample to see how long it takes; later turns take as many as fit.
  Result<std::uint32_t> iterations_of(CommunicatorContender& contender, Communicator& group,
                                      const MeasuredCell& cell) {
    if (samples_[cell].empty()) COHORT_RETURN_IF_ERROR(sample(contender, group, cell, 1));
    const double one_ns = *std::min_element(samples_[cell].begin(), samples_[cell].end());
    const double turn_ns = static_cast<double>(options_.time.count()) / options_.rounds;
    return static_cast<std::uint32_t>(std::clamp(turn_ns / std::max(one_ns, 1.0), 1.0, kMostIterations));
  }

  // The time of a sample is that of the slowest rank, and so the same on all ranks.
  Status sample(CommunicatorContender& contender, Communicator& group, const MeasuredCell& cell,
                std::uint32_t iterations) {
    const measure::RunCommand command{
        .operation = cell.operation,
        .kind = "ordinary",
        .elements = measure::elements_of(cell.operation, cell.bytes, facts_.world),
        .iterations = iterations,
        .salt = salt_};
    salt_ += iterations;
    COHORT_ASSIGN_OR_RETURN(const measure::Times times,
                            measure::measure_run(contender, command, facts_.rank, facts_.world));
    std::vector<double> took;
    for (const measure::Interval& each : times.intervals) {
      took.push_back(static_cast<double>(each.end_ns - each.start_ns));
    }
    COHORT_RETURN_IF_ERROR(group.run(all_reduce(std::span(took), ReduceOp::kMax)));
    samples_[cell].insert(samples_[cell].end(), took.begin(), took.end());
    return {};
  }

  Call call_of_cell(const MeasuredCell& cell) const {
    return call_of(cell.operation, measure::elements_of(cell.operation, cell.bytes, facts_.world),
                   facts_.world);
  }
  comm::CallFacts facts_of_cell(const MeasuredCell& cell) const {
    return comm::facts_for(call_of_cell(cell), facts_.rank, facts_.world, plan_);
  }
  comm::Choice choice_of(const MeasuredCell& cell, const Forced& algorithm) const {
    comm::PlanOptions plan = plan_;
    plan.algorithm = algorithm;
    return comm::choice_for(call_of_cell(cell), facts_of_cell(cell), plan);
  }

  RanksReport report() const {
    RanksReport report{.ranks = facts_.world,
                       .hosts = static_cast<int>(std::set(plan_.hosts.begin(), plan_.hosts.end()).size()),
                       .link_bytes = link_bytes_,
                       .prices = plan_.prices};
    if (!link_samples_.empty()) report.link_times = measure::summarize(link_samples_);
    if (!ring_samples_.empty()) report.ring_times = measure::summarize(ring_samples_);
    for (const auto& [cell, samples] : samples_) report.rows.push_back(row_of(cell, samples));
    return report;
  }

  RanksRow row_of(const MeasuredCell& cell, const std::vector<double>& samples) const {
    const comm::Choice used = choice_of(cell, cell.algorithm);
    return {.operation = cell.operation,
            .bytes = cell.bytes,
            .algorithm = std::string(used.algorithm->name()),
            .chunks = used.chunks,
            .is_chosen = used.algorithm == choice_of(cell, std::nullopt).algorithm,
            .times = measure::summarize(samples),
            .bus_factor = measure::bus_factor(cell.operation, facts_.world),
            .predicted_s = used.seconds};
  }

  const LaunchFacts& facts_;
  const RanksBenchOptions& options_;
  net::Meeting& meeting_;
  const net::JobKey& key_;
  std::unique_ptr<Arena> arena_;
  std::uint32_t generation_ = 0;
  std::uint64_t salt_ = 0;
  comm::PlanOptions plan_;
  std::optional<world::Pricing> pricing_;
  std::optional<BareRing> ring_;
  std::uint64_t link_bytes_ = 0;
  std::vector<double> link_samples_;  // as measured on rank 0
  std::vector<double> ring_samples_;  // of the slowest rank
  std::map<MeasuredCell, std::vector<double>> samples_;
};

}  // namespace

Result<RanksReport> bench_ranks(const LaunchFacts& facts, const RanksBenchOptions& options) {
  if (facts.world < 2) {
    return Error(ErrorCode::kUsage, "the benchmark needs at least two ranks")
        .with_remedy("Start it on several hosts: cohort run --hosts a:1,b:1 cohort bench ranks.");
  }
  if (facts.links.settings.backend == Backend::kMpi) {
    return Error(ErrorCode::kUsage, "the backend mpi has algorithms of its own, which are not measured here")
        .with_remedy("Use the backend tcp or ucx, or measure MPI with cohort-mpi-overhead.");
  }
  COHORT_ASSIGN_OR_RETURN(const net::JobKey key, world::job_key(facts));
  COHORT_ASSIGN_OR_RETURN(const auto meeting, world::open_meeting(facts, key));
  return RanksBench(facts, options, *meeting, key).run();
}

}  // namespace cohort::tool
