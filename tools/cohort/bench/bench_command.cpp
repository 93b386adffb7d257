#include "base/units.h"
#include "bench/bench_communicator.h"
#include "bench/bench_groups.h"
#include "bench/bench_output.h"
#include "bench/operation_words.h"
#include "commands.h"
#include "measure/bench_rows.h"
#include "measure/size_list.h"
#include "session.h"
#include "storage/local_file_system.h"
#include "storage/whole_file.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <span>

namespace cohort::tool {
namespace {

using measure::BenchCell;
using measure::BenchOperation;
using measure::ContenderName;

Result<std::vector<ContenderName>> parse_contenders(const std::vector<std::string>& words) {
  std::vector<ContenderName> contenders;
  for (const std::string& word : words) {
    const auto contender = contender_named(word);
    if (!contender) return unknown_word("kind or peer", word, contender_names());
    if (std::find(contenders.begin(), contenders.end(), *contender) == contenders.end()) {
      contenders.push_back(*contender);
    }
  }
  return contenders;
}

/// `cohort bench comm`: measures our communicator and its peers in one run.
class BenchCommCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"bench", "comm"}; }
  std::string summary() const override {
    return "Measure communication between ranks of this host, compared with other libraries";
  }

  void add_options(CLI::App& app) override {
    app.add_option("-n,--ranks", ranks_, "Numbers of ranks, measured one after the other")->delimiter(',');
    app.add_option("--operations", operations_, "Operations, separated by commas: all_reduce, broadcast, …")
        ->delimiter(',');
    app.add_option("--sizes", sizes_, "Bytes of a rank's buffer: 4,64KiB or 4..64MiB for every power of two");
    app.add_option("--kinds", kinds_, "The rows: arena, ordinary, tcp, tls, or a peer")->delimiter(',');
    app.add_option("--against", against_,
                   "Peers to compare with: gloo, gloo_pinned, openmpi, memcpy, bare_tcp")
        ->delimiter(',');
    app.add_option("--rounds", rounds_, "Turns of every contender in every cell");
    app.add_option("--time", time_, "Time for one contender in one cell, over all rounds");
    app.add_option("--batch", batch_,
                   "Calls per sample; by default 64 for small sizes down to 1 from 256 KiB");
    app.add_flag("--pin", pin_, "Pin each rank of ours, memcpy and bare_tcp to a core");
    app.add_option("--python", python_, "The Python with torch for the peer gloo");
    app.add_option("--limit", limit_, "How long one turn of a contender may last");
    app.add_option("--plot", plot_, "Write a plot of time over size to this file (SVG)")->type_name("FILE");
    app.add_flag("--json", json_, "One JSON object: rows, unsupported");
  }

  std::vector<std::string> candidates(const std::string& option) const override {
    if (option == "--operations") return operation_names();
    if (option == "--kinds") return contender_names();
    if (option == "--against") return {"gloo", "gloo_pinned", "openmpi", "memcpy", "bare_tcp"};
    return {};
  }

  Result<ExitCode> run(Session& session) override {
    COHORT_ASSIGN_OR_RETURN(measure::BenchPlan plan, make_plan());
    measure::Sides sides;
    COHORT_ASSIGN_OR_RETURN(sides.ours, parse_contenders(kinds_));
    COHORT_ASSIGN_OR_RETURN(sides.peers, parse_contenders(against_));
    plan.contenders = sides.ours;
    for (const ContenderName& peer : sides.peers) {
      if (std::find(plan.contenders.begin(), plan.contenders.end(), peer) == plan.contenders.end()) {
        plan.contenders.push_back(peer);
      }
    }
    measure::BenchReport report;
    for (const int ranks : ranks_) {
      plan.ranks = ranks;
      COHORT_ASSIGN_OR_RETURN(const auto results, measure_all(session, plan));
      measure::add_results(report, results, sides, ranks);
    }
    COHORT_RETURN_IF_ERROR(write_plot(report));
    session.out << (json_ ? bench_json(report) : bench_table(report, session));
    return ExitCode::kDone;
  }

 private:
  Result<measure::BenchPlan> make_plan() const {
    measure::BenchPlan plan;
    COHORT_ASSIGN_OR_RETURN(plan.operations, parse_operations(operations_));
    COHORT_ASSIGN_OR_RETURN(plan.sizes, measure::parse_sizes(sizes_));
    COHORT_ASSIGN_OR_RETURN(plan.time_per_cell, parse_duration(time_).within("--time"));
    plan.rounds = rounds_;
    plan.batch = batch_;
    const auto refuse = [](std::string message) { return Error(ErrorCode::kUsage, std::move(message)); };
    if (rounds_ < 1) return refuse(fmt::format("--rounds {}: at least one round is needed", rounds_));
    if (batch_ && (*batch_ < 1 || *batch_ > measure::kLargestBatch)) {
      return refuse(fmt::format("--batch {}: it lies between 1 and {}", *batch_, measure::kLargestBatch));
    }
    for (const int ranks : ranks_) {
      if (ranks < 1 || ranks > 1024) return refuse(fmt::format("-n {}: it lies between 1 and 1024", ranks));
    }
    return plan;
  }

  Result<std::vector<measure::CellResult>> measure_all(const Session& session,
                                                       const measure::BenchPlan& plan) const {
    const ProgressLine line;
    GroupOptions options{.ranks = plan.ranks, .pin = pin_, .python = python_};
    COHORT_ASSIGN_OR_RETURN(options.run_limit, parse_duration(limit_).within("--limit"));
    COHORT_ASSIGN_OR_RETURN(BenchGroups groups, BenchGroups::open(session, options));
    std::set<std::string> started;
    for (const ContenderName& contender : plan.contenders) {
      if (!started.insert(contender.group).second) continue;
      line.say(fmt::format("starting {} ranks of {}", plan.ranks, contender.group));
      COHORT_RETURN_IF_ERROR(groups.start(contender.group));
    }
    const RealClock clock;
    return measure::run_plan(
        plan, [&](const auto& contender, const auto& command) { return groups.run(contender, command); },
        [&](const BenchCell& cell, std::size_t done, std::size_t all) {
          line.say(fmt::format("{}/{}: {} of {}, {} ranks", done + 1, all, name(cell.operation),
                               format_bytes(cell.bytes), plan.ranks));
        },
        clock);
  }

  Status write_plot(const measure::BenchReport& report) const {
    if (!plot_) return {};
    LocalFileSystem files;
    const std::string svg = measure::svg_of(bench_plots(report));
    return write_file_atomically(files, *plot_, std::as_bytes(std::span(svg)))
        .within("cannot write the plot");
  }

  std::vector<int> ranks_ = {2};
  std::vector<std::string> operations_ = {"all_reduce"};
  std::string sizes_ = "4,64KiB,1MiB,32MiB";
  std::vector<std::string> kinds_ = bench_kinds();
  std::vector<std::string> against_;
  int rounds_ = 5;
  std::string time_ = "500ms";
  std::string limit_ = "60s";
  std::optional<std::uint32_t> batch_;
  std::optional<std::string> python_;
  std::optional<std::string> plot_;
  bool pin_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_bench_comm_command() {
  return std::make_unique<BenchCommCommand>();
}

}  // namespace cohort::tool
