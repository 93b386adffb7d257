#include "bench/checkpoint_contender.h"
#include "commands.h"
#include "measure/contender.h"
#include "measure/line_socket.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

std::string answer_of(CheckpointContender& contender, const std::string& line) {
  const auto command = measure::StateCommand::decode(line);
  if (!command) return measure::Failed{command.error().text()}.encode();
  const auto interval = contender.run(*command);
  if (interval) return measure::Times{.intervals = {*interval}}.encode();
  return measure::Failed{interval.error().text()}.encode();
}

/// `cohort bench-checkpoint-rank GROUP RANK RANKS FOLDER BYTES`: a rank of `cohort bench checkpoint`; hidden.
class CheckpointRankCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"bench-checkpoint-rank"}; }
  std::string summary() const override { return ""; }
  void add_options(CLI::App& app) override {
    app.add_option("group", group_, "The name of the group")->required();
    app.add_option("rank", seat_.rank, "This rank")->required();
    app.add_option("ranks", seat_.ranks, "Their number")->required();
    app.add_option("folder", seat_.folder, "A folder that they share")->required();
    app.add_option("bytes", total_bytes_, "Size of the state")->required();
  }

  Result<ExitCode> run(Session& session) override {
    const auto control = session.environment.find(measure::kControlVariable);
    if (control == session.environment.end()) {
      return Error(ErrorCode::kUsage, fmt::format("{} is not set", measure::kControlVariable))
          .with_remedy("Do not start this command by hand; `cohort bench checkpoint` does.");
    }
    seat_.rendezvous = control->second;
    COHORT_ASSIGN_OR_RETURN(const auto contender, CheckpointContender::open(seat_, total_bytes_));
    COHORT_ASSIGN_OR_RETURN(measure::LineSocket controller, measure::connect_lines(control->second));
    COHORT_RETURN_IF_ERROR(
        measure::serve_lines(controller, {.group = group_, .rank = seat_.rank, .ranks = seat_.ranks},
                             [&](const std::string& line) { return answer_of(*contender, line); }));
    return ExitCode::kDone;
  }

 private:
  std::string group_;
  BenchSeat seat_;
  std::uint64_t total_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_checkpoint_rank_command() {
  return std::make_unique<CheckpointRankCommand>();
}

}  // namespace cohort::tool
