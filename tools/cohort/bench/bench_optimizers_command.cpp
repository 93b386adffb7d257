#include "base/units.h"
#include "bench/bench_output.h"
#include "bench/group_processes.h"
#include "bench/operation_words.h"
#include "bench/optimizer_row.h"
#include "bench/optimizer_work.h"
#include "bench/peer_scripts.h"
#include "commands.h"
#include "measure/step_run.h"
#include "session.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

constexpr const char* kPeerTorch = "torch";
constexpr const char* kSharedMemory = "/dev/shm";
constexpr std::uint64_t kMostElements = 1'000'000'000;

// How torch_optimizer.py calls the work of a contender; null for contenders of ours.
const char* torch_form(const std::string& contender) {
  if (contender == kTorchFused) return "fused";
  if (contender == kTorchForeach) return "foreach";
  return contender == kTorchLoop ? "loop" : nullptr;
}

/// `cohort bench optimizers`: measures the updates of ours and of torch in one run.
class BenchOptimizersCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"bench", "optimizers"}; }
  std::string summary() const override {
    return "Measure the updates of all optimizers on one thread, compared with memory and with torch";
  }

  void add_options(CLI::App& app) override {
    app.add_option("--optimizer", optimizers_, "Optimizers, separated by commas; by default all")
        ->delimiter(',');
    app.add_option("--elements", elements_, "f32 parameters, such as 23M, which updates 23 million")
        ->transform(CLI::AsNumberWithUnit(
            std::map<std::string, std::uint64_t>{{"k", 1000}, {"M", 1'000'000}, {"G", 1'000'000'000}},
            CLI::AsNumberWithUnit::CASE_SENSITIVE));
    app.add_option("--rounds", rounds_, "Turns of every contender");
    app.add_option("--steps", steps_, "Updates of one turn");
    app.add_option("--against", against_, "Peers to compare with: torch")->delimiter(',');
    app.add_option("--python", python_, "The Python with torch for the peer");
    app.add_option("--limit", limit_, "How long one turn of a contender may last");
    app.add_flag("--json", json_, "One JSON object: elements, rows");
  }

  std::vector<std::string> candidates(const std::string& option) const override {
    if (option == "--optimizer") return optimizer_names();
    if (option == "--against") return {kPeerTorch};
    return {};
  }

  Result<ExitCode> run(Session& session) override {
    COHORT_RETURN_IF_ERROR(check());
    COHORT_ASSIGN_OR_RETURN(turn_limit_, parse_duration(limit_).within("--limit"));
    std::vector<OptimizerRow> rows;
    for (const std::string& name : optimizers_.empty() ? optimizer_names() : optimizers_) {
      COHORT_ASSIGN_OR_RETURN(rows.emplace_back(), measure(session, name).within(name));
    }
    session.out << (json_ ? optimizers_json(rows, elements_) : optimizers_table(rows, session));
    return ExitCode::kDone;
  }

 private:
  Status check() const {
    for (const std::string& name : optimizers_) {
      if (!optimizer_named(name)) return unknown_word("optimizer", name, optimizer_names());
    }
    for (const std::string& peer : against_) {
      if (peer != kPeerTorch) return unknown_word("peer", peer, {kPeerTorch});
    }
    const auto refuse = [](std::string message) { return Error(ErrorCode::kUsage, std::move(message)); };
    if (rounds_ < 1) return refuse(fmt::format("--rounds {}: at least one round is needed", rounds_));
    if (steps_ < 1 || steps_ > measure::kMostIterations) {
      return refuse(fmt::format("--steps {}: it lies between 1 and {}", steps_, measure::kMostIterations));
    }
    if (elements_ < 1 || elements_ > kMostElements) {
      return refuse(fmt::format("--elements {}: it lies between 1 and {}", elements_, kMostElements));
    }
    return {};
  }

  std::vector<std::string> contenders() const {
    std::vector<std::string> all{kOurUpdate, kBareMemory};
    if (!against_.empty()) all.insert(all.end(), {kTorchFused, kTorchForeach, kTorchLoop});
    return all;
  }

  Result<OptimizerRow> measure(const Session& session, const std::string& name) const {
    OptimizerRow row{.name = name, .bytes = bytes_of_update({.kind = *optimizer_named(name)}, elements_)};
    const ProgressLine line;
    COHORT_ASSIGN_OR_RETURN(GroupProcesses processes, GroupProcesses::open(kSharedMemory));
    const auto take = [&](const std::string& group, const measure::StepCommand& command) {
      return processes.run(group, command, turn_limit_);
    };
    measure::StepPlan plan{.rounds = rounds_, .steps = steps_, .warm_up_steps = 1};
    for (const std::string& contender : contenders()) {
      line.say(fmt::format("{}: starting {}", name, contender));
      COHORT_RETURN_IF_ERROR(processes.start(start_of_update(
          session, contender, {.optimizer = name, .elements = elements_, .folder = processes.folder()})));
      const auto first = take(contender, {.steps = 1});
      if (first) {
        plan.groups.push_back(contender);
      } else if (first.error().code() == ErrorCode::kUnsupported) {
        processes.end(contender);
      } else {
        return first.error();
      }
    }
    COHORT_ASSIGN_OR_RETURN(row.times,
                            measure::run_steps(plan, take, [&](const std::string& group, int round) {
                              line.say(fmt::format("{}: round {}/{}, {}", name, round, rounds_, group));
                            }));
    return row;
  }

  GroupStart start_of_update(const Session& session, const std::string& contender,
                             const WorkOrder& order) const {
    GroupStart start{.name = contender};
    const std::string elements = std::to_string(order.elements);
    if (const char* const form = torch_form(contender)) {
      start.remedy = kPeerSetUp;
      start.members = {{.argv = {peer_python(python_), "-c", torch_optimizer_script(), contender,
                                 order.optimizer, form, elements, order.folder}}};
    } else {
      const char* const work = contender == kBareMemory ? kMemoryWork : kUpdateWork;
      start.members = {{.argv = {session.program, "bench-optimizer", contender, order.optimizer, work,
                                 elements, order.folder}}};
    }
    return start;
  }

  std::vector<std::string> optimizers_;
  std::vector<std::string> against_;
  std::uint64_t elements_ = 23'000'000;
  int rounds_ = 5;
  std::uint32_t steps_ = 4;
  std::optional<std::string> python_;
  std::string limit_ = "120s";
  std::chrono::nanoseconds turn_limit_{};
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_bench_optimizers_command() {
  return std::make_unique<BenchOptimizersCommand>();
}

}  // namespace cohort::tool
