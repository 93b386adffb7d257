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
struct Entry {
  ContenderName contender{};
  std::uint32_t iterations = kFewestIterations;
  std::vector<double> samples{};
  std::string unsupported{};
};

// All contenders of a cell, and the numbering of the calls.
class CellRun {
 public:
  CellRun(const BenchPlan& plan, const BenchCell& cell, const TakeSamples& take, const Clock& clock)
      : plan_(plan), take_(take), clock_(clock) {
    command_ = {.operation = cell.operation,
                .elements = elements_of(cell.operation, cell.bytes, plan.ranks),
                .batch = plan.batch.value_or(calls_per_sample(cell.bytes))};
    for (const ContenderName& contender : plan.contenders) entries_.push_back({.contender = contender});
  }

  Result<CellResult> run(const BenchCell& cell) {
    for (Entry& entry : entries_) COHORT_RETURN_IF_ERROR(warm_up(entry));
    for (int round = 0; round < plan_.rounds; ++round) {
      for (Entry& entry : entries_) COHORT_RETURN_IF_ERROR(take_turn(entry));
    }
    CellResult result{.cell = cell, .batch = command_.batch};
    for (Entry& entry : entries_) {
      CellTimes& times = result.times.emplace_back();
      times.contender = entry.contender;
      times.unsupported = entry.unsupported;
      if (!entry.samples.empty()) times.summary = summarize(std::move(entry.samples));
    }
    return result;
  }

 private:
  // The first run allocates memory; the second tells how long an iteration takes.
  Status warm_up(Entry& entry) {
    if (command_.operation == BenchOperation::kSendReceive && plan_.ranks < 2) {
      entry.unsupported = "the operation needs two ranks";
      return {};
    }
    const auto first = ask(entry, 1);
    if (!first && first.error().code() == ErrorCode::kUnsupported) {
      entry.unsupported = first.error().root().message();
      return {};
    }
    COHORT_RETURN_IF_ERROR(first);
    const TimePoint start = clock_.now();
    COHORT_RETURN_IF_ERROR(ask(entry, kProbeIterations));
    const auto one = std::max<std::chrono::nanoseconds>((clock_.now() - start) / kProbeIterations,
                                                        std::chrono::nanoseconds(1));
    const std::int64_t fitting = plan_.time_per_cell / plan_.rounds / one;
    entry.iterations = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(fitting, kFewestIterations, kMostIterationsPerTurn));
    return {};
  }

  Status take_turn(Entry& entry) {
    if (!entry.unsupported.empty()) return {};
    COHORT_ASSIGN_OR_RETURN(const auto samples, ask(entry, entry.iterations));
    entry.samples.insert(entry.samples.end(), samples.begin(), samples.end());
    return {};
  }

  Result<std::vector<double>> ask(const Entry& entry, std::uint32_t iterations) {
    command_.kind = entry.contender.kind;
    command_.iterations = iterations;
    auto samples = take_(entry.contender, command_);
    command_.salt += std::uint64_t{iterations} * command_.batch;
    return samples;
  }

  const BenchPlan& plan_;
  const TakeSamples& take_;
  const Clock& clock_;
  RunCommand command_;
  std::vector<Entry> entries_;
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
