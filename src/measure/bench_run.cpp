#include "measure/bench_run.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::measure {
namespace {

constexpr std::uint64_t kBatchBytes = 256 << 10;
constexpr std::uint64_t kMostCallsPerSample = 64;
constexpr std::uint32_t kFewestIterations = 3;
constexpr std::uint32_t kMostIterationsPerTurn = 2000;
constexpr std::uint32_t kProbeIterations = 2;

// One contender in one cell.
struct Lane {
  ContenderName contender{};
  std::uint32_t iterations = kFewestIterations;
  std::vector<double> samples{};
  std::string unsupported{};
};

// All lanes of a cell, and the numbering of the calls.
class CellRun {
 public:
  CellRun(const BenchPlan& plan, const BenchCell& cell, const TakeSamples& take, const Clock& clock)
      : plan_(plan), take_(take), clock_(clock) {
    command_ = {.operation = cell.operation,
                .elements = elements_of(cell.operation, cell.bytes, plan.ranks),
                .batch = plan.batch.value_or(calls_per_sample(cell.bytes))};
    for (const ContenderName& contender : plan.contenders) lanes_.push_back({.contender = contender});
  }

  Result<CellResult> run(const BenchCell& cell) {
    for (Lane& lane : lanes_) COHORT_RETURN_IF_ERROR(warm_up(lane));
    for (int round = 0; round < plan_.rounds; ++round) {
      for (Lane& lane : lanes_) COHORT_RETURN_IF_ERROR(take_turn(lane));
    }
    CellResult result{.cell = cell, .batch = command_.batch};
    for (Lane& lane : lanes_) {
      CellTimes& times = result.times.emplace_back();
      times.contender = lane.contender;
      times.unsupported = lane.unsupported;
      if (!lane.samples.empty()) times.summary = summarize(std::move(lane.samples));
    }
    return result;
  }

 private:
  // The first run pays for fresh memory, the second says how long an iteration is with all that is around it.
  Status warm_up(Lane& lane) {
    if (command_.operation == BenchOperation::kSendReceive && plan_.ranks < 2) {
      lane.unsupported = "it needs two ranks";
      return {};
    }
    const auto first = ask(lane, 1);
    if (!first && first.error().code() == ErrorCode::kUnsupported) {
      lane.unsupported = first.error().root().message();
      return {};
    }
    COHORT_RETURN_IF_ERROR(first);
    const TimePoint start = clock_.now();
    COHORT_RETURN_IF_ERROR(ask(lane, kProbeIterations));
    const auto one = std::max<std::chrono::nanoseconds>((clock_.now() - start) / kProbeIterations,
                                                        std::chrono::nanoseconds(1));
    const std::int64_t fitting = plan_.time_per_cell / plan_.rounds / one;
    lane.iterations = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(fitting, kFewestIterations, kMostIterationsPerTurn));
    return {};
  }

  Status take_turn(Lane& lane) {
    if (!lane.unsupported.empty()) return {};
    COHORT_ASSIGN_OR_RETURN(const auto samples, ask(lane, lane.iterations));
    lane.samples.insert(lane.samples.end(), samples.begin(), samples.end());
    return {};
  }

  Result<std::vector<double>> ask(const Lane& lane, std::uint32_t iterations) {
    command_.kind = lane.contender.kind;
    command_.iterations = iterations;
    auto samples = take_(lane.contender, command_);
    command_.salt += std::uint64_t{iterations} * command_.batch;
    return samples;
  }

  const BenchPlan& plan_;
  const TakeSamples& take_;
  const Clock& clock_;
  RunCommand command_;
  std::vector<Lane> lanes_;
};

}  // namespace

std::vector<BenchCell> cells_of(const BenchPlan& plan) {
  std::vector<BenchCell> cells;
  for (const BenchOperation operation : plan.operations) {
    if (operation == BenchOperation::kBarrier) {
      cells.push_back({.operation = operation, .bytes = 0});
      continue;
    }
    for (const std::uint64_t bytes : plan.sizes) cells.push_back({.operation = operation, .bytes = bytes});
  }
  return cells;
}

std::uint32_t calls_per_sample(std::uint64_t bytes) {
  const std::uint64_t fitting = kBatchBytes / std::max<std::uint64_t>(bytes, 1);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(fitting, 1, kMostCallsPerSample));
}

Result<std::vector<CellResult>> run_plan(const BenchPlan& plan, const TakeSamples& take,
                                         const Progress& progress, const Clock& clock) {
  const auto cells = cells_of(plan);
  std::vector<CellResult> results;
  for (const BenchCell& cell : cells) {
    progress(cell, results.size(), cells.size());
    COHORT_ASSIGN_OR_RETURN(results.emplace_back(), CellRun(plan, cell, take, clock).run(cell));
  }
  return results;
}

}  // namespace cohort::measure
