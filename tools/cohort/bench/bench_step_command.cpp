#include "base/units.h"
#include "bench/bench_output.h"
#include "bench/group_processes.h"
#include "bench/operation_words.h"
#include "bench/step_contenders.h"
#include "commands.h"
#include "measure/step_run.h"
#include "session.h"
#include "storage/local_file_system.h"
#include "storage/whole_file.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

constexpr const char* kTrainerWay = "trainer";
constexpr const char* kF32 = "f32";
constexpr const char* kBf16 = "bf16";
constexpr const char* kAgainstTorch = "torch";
constexpr const char* kAgainstDdp = "torch-ddp";

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const StepModel& model : step_models()) names.push_back(model.name);
  return names;
}

std::vector<std::string> way_names() {
  std::vector<std::string> names = step_ways();
  names.insert(names.begin(), kTrainerWay);
  return names;
}

Status check_words(std::string_view what, const std::vector<std::string>& words,
                   const std::vector<std::string>& known) {
  for (const std::string& word : words) {
    if (!contains(known, word)) return unknown_word(what, word, known);
  }
  return {};
}

// The largest rank of a group.
Result<MemoryUse> largest_of(const GroupProcesses& processes, const std::string& group) {
  COHORT_ASSIGN_OR_RETURN(const auto uses, processes.memory(group));
  MemoryUse largest;
  for (const MemoryUse& use : uses) {
    largest.peak_bytes = std::max(largest.peak_bytes, use.peak_bytes);
    largest.proportional_bytes = std::max(largest.proportional_bytes, use.proportional_bytes);
  }
  return largest;
}

// The shortest start of each, taken in turns.
Status add_shortest(std::optional<double>& best, const Result<std::chrono::nanoseconds>& took) {
  COHORT_RETURN_IF_ERROR(took);
  const auto ns = static_cast<double>(took->count());
  best = best ? std::min(*best, ns) : ns;
  return {};
}

/// `cohort bench step`: measures training steps of ours and of torch in one run.
class BenchStepCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"bench", "step"}; }
  std::string summary() const override {
    return "Measure training steps with ranks of this host, compared with torch";
  }

  void add_options(CLI::App& app) override {
    app.add_option("--models", models_, "Models, separated by commas: mlp, gpt, resnet18, wide, many, tiny")
        ->delimiter(',');
    app.add_option("-n,--ranks", ranks_, "Ranks of ours and of DDP");
    app.add_option("--batch", batch_, "Samples per rank and step; by default a usual number for the model");
    app.add_option("--rounds", rounds_, "Turns of every contender");
    app.add_option("--steps", steps_, "Steps of one turn");
    app.add_option("--ways", ways_,
                   "Variants of ours: trainer, trainer_synchronised (batch norm over all ranks), "
                   "data_parallel, trainer_without_update, "
                   "data_parallel_without_update, loop_without_update")
        ->delimiter(',');
    app.add_option("--precision", precisions_,
                   "Types that forward and backward compute in: f32, bf16. bf16 adds ours_bf16 and "
                   "data_parallel_bf16, and the peers in bf16 by autocast")
        ->delimiter(',');
    app.add_option("--against", against_,
                   "Peers to compare with: torch (one process), torch-ddp (that, and one process per rank)")
        ->delimiter(',');
    app.add_option("--starts", starts_,
                   "Number of starts of a job to time its first step; the shortest counts, 0 measures none");
    app.add_flag("--channels-last", peers_.channels_last,
                 "Let the peers use the channels_last memory format, as ours do");
    app.add_option("--python", peers_.python, "The Python with torch for the peers");
    app.add_option("--limit", limit_, "How long one turn of a contender may last");
    app.add_option("--plot", plot_, "Write a picture of the step times to this file (SVG)")
        ->type_name("FILE");
    app.add_flag("--json", json_, "One JSON object: rows");
  }

  std::vector<std::string> candidates(const std::string& option) const override {
    if (option == "--models") return model_names();
    if (option == "--ways") return way_names();
    if (option == "--precision") return {kF32, kBf16};
    if (option == "--against") return {kAgainstTorch, kAgainstDdp};
    return {};
  }

  Result<ExitCode> run(Session& session) override {
    COHORT_RETURN_IF_ERROR(check());
    COHORT_ASSIGN_OR_RETURN(turn_limit_, parse_duration(limit_).within("--limit"));
    std::vector<StepRow> rows;
    for (const std::string& name : models_) {
      const auto models = step_models();
      const auto model =
          std::find_if(models.begin(), models.end(), [&](const auto& m) { return m.name == name; });
      const std::vector<int> batches = batch_ ? std::vector<int>{*batch_} : model->batches;
      for (const int batch : batches) {
        COHORT_ASSIGN_OR_RETURN(rows.emplace_back(),
                                measure_cell(session, {.model = *model, .batch = batch, .ranks = ranks_}));
      }
    }
    COHORT_RETURN_IF_ERROR(write_plot(rows));
    session.out << (json_ ? step_json(rows) : step_table(rows, session));
    return ExitCode::kDone;
  }

 private:
  Status check() const {
    COHORT_RETURN_IF_ERROR(check_words("model", models_, model_names()));
    COHORT_RETURN_IF_ERROR(check_words("way", ways_, way_names()));
    COHORT_RETURN_IF_ERROR(check_words("precision", precisions_, {kF32, kBf16}));
    COHORT_RETURN_IF_ERROR(check_words("peer", against_, {kAgainstTorch, kAgainstDdp}));
    const auto refuse = [](std::string message) { return Error(ErrorCode::kUsage, std::move(message)); };
    if (rounds_ < 1) return refuse(fmt::format("--rounds {}: at least one round is needed", rounds_));
    if (steps_ < 1 || steps_ > measure::kMostIterations) {
      return refuse(fmt::format("--steps {}: it lies between 1 and {}", steps_, measure::kMostIterations));
    }
    if (batch_ && *batch_ < 1) {
      return refuse(fmt::format("--batch {}: at least one sample is needed", *batch_));
    }
    if (ranks_ < 1 || ranks_ > 1024) return refuse(fmt::format("-n {}: it lies between 1 and 1024", ranks_));
    if (starts_ < 0) return refuse(fmt::format("--starts {}: it cannot be negative", starts_));
    return {};
  }

  Status write_plot(const std::vector<StepRow>& rows) const {
    if (!plot_) return {};
    LocalFileSystem files;
    const std::string svg =
        measure::svg_of_bars("time of a training step (10th percentile), lower is better", step_charts(rows));
    return write_file_atomically(files, *plot_, std::as_bytes(std::span(svg)))
        .within("cannot write the plot");
  }

  std::vector<std::string> contenders() const {
    std::vector<std::string> all;
    if (contains(precisions_, kF32)) all = f32_contenders();
    if (!contains(precisions_, kBf16)) return all;
    const auto add = [&](bool is_asked, const char* contender) {
      if (is_asked) all.push_back(std::string(contender) + kBf16Suffix);
    };
    add(contains(ways_, kTrainerWay), kOurs);
    add(contains(ways_, kDataParallel), kDataParallel);
    add(!against_.empty(), kTorchAlone);
    add(contains(against_, kAgainstDdp), kTorchDdp);
    return all;
  }

  std::vector<std::string> f32_contenders() const {
    std::vector<std::string> all;
    if (contains(ways_, kTrainerWay)) all = {kOurs, kOursAlone, kOursApart};
    for (const std::string& way : step_ways()) {
      if (contains(ways_, way)) all.push_back(way);
    }
    if (!against_.empty()) all.emplace_back(kTorchAlone);
    if (contains(against_, kAgainstDdp)) all.emplace_back(kTorchDdp);
    return all;
  }

  Result<StepRow> measure_cell(const Session& session, const StepCell& cell) const {
    const std::string what = fmt::format("{}, batch {}", cell.model.name, cell.batch);
    COHORT_ASSIGN_OR_RETURN(GroupProcesses processes, GroupProcesses::open());
    StepRow row{.model = cell.model.name, .batch = cell.batch, .ranks = cell.ranks};
    COHORT_RETURN_IF_ERROR(time_steps(session, cell, processes, row).within(what));
    for (const std::string& contender : contenders()) processes.end(contender);
    COHORT_RETURN_IF_ERROR(time_first_steps(session, cell, processes.folder(), row).within(what));
    return row;
  }

  Status time_steps(const Session& session, const StepCell& cell, GroupProcesses& processes,
                    StepRow& row) const {
    const std::string what = fmt::format("{}, batch {}", cell.model.name, cell.batch);
    const ProgressLine line;
    for (const std::string& contender : contenders()) {
      line.say(fmt::format("{}: starting {}", what, contender));
      COHORT_ASSIGN_OR_RETURN(GroupStart start,
                              start_of(contender, cell, session, peers_, processes.folder()));
      COHORT_RETURN_IF_ERROR(processes.start(std::move(start)));
    }
    COHORT_ASSIGN_OR_RETURN(row.times,
                            measure::run_steps(
                                {.groups = contenders(), .rounds = rounds_, .steps = steps_},
                                [&](const std::string& group, const measure::StepCommand& command) {
                                  return processes.run(group, command, turn_limit_);
                                },
                                [&](const std::string& group, int round) {
                                  line.say(fmt::format("{}: round {}/{}, {}", what, round, rounds_, group));
                                }));
    for (const std::string& contender : contenders()) {
      COHORT_ASSIGN_OR_RETURN(row.memory[contender], largest_of(processes, contender));
    }
    return {};
  }

  // Measured only beside DDP: `cohort train` already reports the number by itself.
  Status time_first_steps(const Session& session, const StepCell& cell, const std::string& folder,
                          StepRow& row) const {
    const ProgressLine line;
    if (!contains(against_, kAgainstDdp)) return {};
    for (int start = 1; start <= starts_; ++start) {
      line.say(fmt::format("{}, batch {}: start {}/{}", cell.model.name, cell.batch, start, starts_));
      COHORT_RETURN_IF_ERROR(add_shortest(row.our_first_step_ns, our_first_step(cell, session, folder)));
      COHORT_RETURN_IF_ERROR(add_shortest(row.torch_first_step_ns, torch_first_step(cell, peers_, folder)));
    }
    return {};
  }

  std::vector<std::string> models_ = {"mlp", "gpt", "resnet18"};
  std::vector<std::string> ways_ = {kTrainerWay};
  std::vector<std::string> precisions_ = {kF32};
  std::vector<std::string> against_;
  std::optional<int> batch_;
  int ranks_ = 2;
  int rounds_ = 5;
  std::uint32_t steps_ = 4;
  int starts_ = 2;
  StepPeers peers_;
  std::string limit_ = "120s";
  std::chrono::nanoseconds turn_limit_{};
  std::optional<std::string> plot_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_bench_step_command() {
  return std::make_unique<BenchStepCommand>();
}

}  // namespace cohort::tool
