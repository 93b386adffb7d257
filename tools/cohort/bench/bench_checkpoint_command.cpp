#include "base/units.h"
#include "bench/bench_output.h"
#include "bench/group_processes.h"
#include "bench/operation_words.h"
#include "bench/peer_scripts.h"
#include "bench/synthetic_state.h"
#include "commands.h"
#include "session.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

constexpr const char* kOurRanks = "cohort";
constexpr const char* kDcpRanks = "torch-dcp";
constexpr std::chrono::seconds kCheckpointStartLimit{120};

// A contender of a row: the group that has it, and the word by which the group knows the work.
struct Turn {
  std::string row{};
  std::string contender{};
  std::string group{};
  std::string work{};
};

/// `cohort bench checkpoint`: saves and loads a synthetic state, compared with plain input and output and
/// with PyTorch's distributed checkpoints.
class BenchCheckpointCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"bench", "checkpoint"}; }
  std::string summary() const override {
    return "Measure saving and loading of checkpoints, compared with plain input and output and with torch";
  }

  void add_options(CLI::App& app) override {
    app.add_option("-n,--ranks", ranks_, "Ranks")->check(CLI::Range(1, 1024))->capture_default_str();
    app.add_option("--size", size_, "Bytes of the whole state: parameters and two moments of each")
        ->capture_default_str();
    app.add_option("--rounds", rounds_, "Turns of every contender")
        ->check(CLI::Range(1, 100000))
        ->capture_default_str();
    app.add_option("--against", against_, "The peer to compare with: torch-dcp")->delimiter(',');
    app.add_option("--directory", directory_,
                   "Write to a new folder in this one, which is on the disk to be measured; by default in "
                   "the folder for temporary files")
        ->type_name("DIR");
    app.add_option("--python", python_, "The Python with torch for the peer");
    app.add_option("--limit", limit_, "How long one turn of a contender may last")->capture_default_str();
    app.add_flag("--json", json_, "One JSON object: rows");
  }

  std::vector<std::string> candidates(const std::string& option) const override {
    return option == "--against" ? std::vector<std::string>{kDcpRanks} : std::vector<std::string>();
  }

  Result<ExitCode> run(Session& session) override {
    for (const std::string& peer : against_) {
      if (peer != kDcpRanks) return unknown_word("peer", peer, {kDcpRanks});
    }
    COHORT_ASSIGN_OR_RETURN(total_bytes_, parse_bytes(size_).within("--size"));
    COHORT_ASSIGN_OR_RETURN(turn_limit_, parse_duration(limit_).within("--limit"));
    COHORT_ASSIGN_OR_RETURN(GroupProcesses processes, GroupProcesses::open(directory_));
    COHORT_RETURN_IF_ERROR(processes.start(ours(session, processes.folder())));
    if (!against_.empty()) COHORT_RETURN_IF_ERROR(processes.start(dcp(processes.folder())));
    COHORT_ASSIGN_OR_RETURN(const auto rows, measure_rows(processes));
    session.out << (json_ ? checkpoint_json(rows) : checkpoint_table(rows, session));
    return ExitCode::kDone;
  }

 private:
  GroupStart ours(const Session& session, const std::string& folder) const {
    GroupStart start{.name = kOurRanks, .ranks = ranks_, .limit = kCheckpointStartLimit};
    for (int rank = 0; rank < ranks_; ++rank) {
      start.members.push_back(
          {.argv = {session.program, "bench-checkpoint-rank", kOurRanks, std::to_string(rank),
                    std::to_string(ranks_), folder, std::to_string(total_bytes_)}});
    }
    return start;
  }

  GroupStart dcp(const std::string& folder) const {
    GroupStart start{
        .name = kDcpRanks, .ranks = ranks_, .remedy = kPeerSetUp, .limit = kCheckpointStartLimit};
    const std::size_t elements = SyntheticState::elements_of_tensor(ranks_, total_bytes_);
    for (int rank = 0; rank < ranks_; ++rank) {
      start.members.push_back(
          {.argv = {peer_python(python_), "-c", dcp_script(), std::to_string(rank), std::to_string(ranks_),
                    folder, kDcpRanks, std::to_string(SyntheticState::kParameters),
                    std::to_string(elements)}});
    }
    return start;
  }

  // The order of a round.
  std::vector<Turn> turns() const {
    const bool has_dcp = !against_.empty();
    std::vector<Turn> all{{"save", "ours", kOurRanks, "save"}, {"save", "write", kOurRanks, "write"}};
    if (has_dcp) all.push_back({"save", "dcp", kDcpRanks, "save"});
    all.push_back({"load", "ours", kOurRanks, "load"});
    all.push_back({"load", "read", kOurRanks, "read"});
    if (has_dcp) all.push_back({"load", "dcp", kDcpRanks, "load"});
    all.push_back({"stall", "ours", kOurRanks, "stall"});
    all.push_back({"stall", "copy", kOurRanks, "copy"});
    return all;
  }

  // Round 0 warms up. The salt differs from round to round, and with it every value of the state.
  Result<std::vector<CheckpointRow>> measure_rows(GroupProcesses& processes) const {
    const ProgressLine line;
    std::map<std::string, std::map<std::string, std::vector<double>>> samples;
    for (int round = 0; round <= rounds_; ++round) {
      for (const Turn& turn : turns()) {
        line.say(fmt::format("round {}/{}: {} by {}", round, rounds_, turn.row, turn.contender));
        const measure::StateCommand command{.work = turn.work, .salt = static_cast<std::uint64_t>(round) + 1};
        COHORT_ASSIGN_OR_RETURN(const auto taken, processes.run(turn.group, command, turn_limit_));
        auto& all = samples[turn.row][turn.contender];
        if (round > 0) all.insert(all.end(), taken.begin(), taken.end());
      }
    }
    return rows_of(samples);
  }

  std::vector<CheckpointRow> rows_of(
      const std::map<std::string, std::map<std::string, std::vector<double>>>& samples) const {
    const std::size_t tensor_bytes = SyntheticState::elements_of_tensor(ranks_, total_bytes_) * sizeof(float);
    std::vector<CheckpointRow> rows;
    for (const char* what : {"save", "stall", "load"}) {
      CheckpointRow row{
          .what = what, .ranks = ranks_, .total_bytes = tensor_bytes * SyntheticState::kTensors};
      for (const auto& [contender, times] : samples.at(what)) {
        row.times.emplace(contender, measure::summarize(times));
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

  int ranks_ = 2;
  std::string size_ = "1GB";
  int rounds_ = 10;
  std::vector<std::string> against_;
  std::optional<std::string> directory_;
  std::optional<std::string> python_;
  std::string limit_ = "120s";
  bool json_ = false;
  std::uint64_t total_bytes_ = 0;
  std::chrono::nanoseconds turn_limit_{};
};

}  // namespace

std::unique_ptr<Command> make_bench_checkpoint_command() {
  return std::make_unique<BenchCheckpointCommand>();
}

}  // namespace cohort::tool
