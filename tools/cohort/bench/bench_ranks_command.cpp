#include "base/units.h"
#include "bench/bench_output.h"
#include "bench/operation_words.h"
#include "bench/ranks_bench.h"
#include "commands.h"
#include "measure/size_list.h"

#include <CLI/CLI.hpp>

namespace cohort::tool {
namespace {

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names;
  for (const CollectiveAlgorithm algorithm : kAllCollectiveAlgorithms) names.emplace_back(name(algorithm));
  return names;
}

/// `cohort bench ranks`: runs as one of the ranks that a launcher started on several hosts.
class BenchRanksCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"bench", "ranks"}; }
  std::string summary() const override {
    return "Measure communication between hosts: started as a program by cohort run --hosts";
  }

  void add_options(CLI::App& app) override {
    app.add_option("--operations", operations_, "Operations, separated by commas: all_reduce, broadcast, …")
        ->delimiter(',');
    app.add_option("--sizes", sizes_, "Bytes of a rank's buffer: 4,64KiB or 4..64MiB for every power of two");
    app.add_option("--algorithms", algorithms_,
                   "Algorithms to force, in turns: ring, doubling, …, or all; by default the chosen one")
        ->delimiter(',');
    app.add_option("--chunk", chunk_, "The longest message, such as 256KiB; by default the chosen one");
    app.add_option("--rounds", rounds_, "Turns of every algorithm")->check(CLI::Range(1, 1000));
    app.add_option("--time", time_, "Time for one algorithm in one cell: 500ms, 2s");
    app.add_flag("--json", json_, "Print one JSON object");
  }

  std::vector<std::string> candidates(const std::string& option) const override {
    if (option == "--operations") return operation_names();
    if (option == "--algorithms") return algorithm_names();
    return {};
  }

  Result<ExitCode> run(Session& session) override {
    COHORT_ASSIGN_OR_RETURN(const RanksBenchOptions options, parsed());
    COHORT_ASSIGN_OR_RETURN(const LaunchFacts facts, launch_facts(session.environment));
    COHORT_ASSIGN_OR_RETURN(const RanksReport report, bench_ranks(facts, options));
    if (facts.rank == 0) session.out << (json_ ? ranks_json(report) : ranks_table(report, session));
    return ExitCode::kDone;
  }

 private:
  Result<RanksBenchOptions> parsed() const {
    RanksBenchOptions options{.rounds = rounds_};
    COHORT_ASSIGN_OR_RETURN(options.operations, parse_operations(operations_));
    COHORT_ASSIGN_OR_RETURN(options.sizes, measure::parse_sizes(sizes_));
    COHORT_ASSIGN_OR_RETURN(options.time, parse_duration(time_));
    if (!chunk_.empty()) {
      COHORT_ASSIGN_OR_RETURN(options.chunk_bytes, parse_bytes(chunk_));
    }
    COHORT_ASSIGN_OR_RETURN(options.algorithms, parsed_algorithms());
    return options;
  }

  Result<std::vector<CollectiveAlgorithm>> parsed_algorithms() const {
    const bool all = algorithms_ == std::vector<std::string>{"all"};
    std::vector<CollectiveAlgorithm> algorithms;
    for (const std::string& word : all ? algorithm_names() : algorithms_) {
      const auto algorithm = collective_algorithm_named(word);
      if (!algorithm) return unknown_word("algorithm", word, algorithm_names());
      algorithms.push_back(*algorithm);
    }
    return algorithms;
  }

  std::vector<std::string> operations_ = {"all_reduce", "reduce_scatter", "all_gather", "all_to_all"};
  std::string sizes_ = "16MiB";
  std::vector<std::string> algorithms_;
  std::string chunk_;
  int rounds_ = 5;
  std::string time_ = "5s";
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_bench_ranks_command() {
  return std::make_unique<BenchRanksCommand>();
}

}  // namespace cohort::tool
