#include "bench/bench_communicator.h"
#include "bench/copy_contender.h"
#include "bench/socket_contender.h"
#include "commands.h"
#include "measure/contender.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

/// `cohort bench-rank GROUP RANK RANKS FOLDER`: one rank of a group of `cohort bench comm`; hidden.
class BenchRankCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"bench-rank"}; }
  std::string summary() const override { return ""; }
  void add_options(CLI::App& app) override {
    app.add_option("group", group_, "cohort, tcp, tls, memcpy or bare_tcp")->required();
    app.add_option("rank", seat_.rank, "This rank")->required();
    app.add_option("ranks", seat_.ranks, "Their number")->required();
    app.add_option("folder", seat_.folder, "A folder that they share")->required();
    app.add_flag("--pin", pin_, "Stay on one core");
  }

  Result<ExitCode> run(Session& session) override {
    const auto control = session.environment.find(measure::kControlVariable);
    if (control == session.environment.end()) {
      return Error(ErrorCode::kUsage, fmt::format("{} is not set", measure::kControlVariable))
          .with_remedy("Do not start this command by hand; `cohort bench comm` does.");
    }
    seat_.rendezvous = control->second;
    if (pin_) COHORT_RETURN_IF_ERROR(measure::pin_to_core_of(seat_.rank));
    COHORT_ASSIGN_OR_RETURN(const auto contender, make_contender());
    COHORT_ASSIGN_OR_RETURN(measure::LineSocket controller, measure::connect_lines(control->second));
    COHORT_RETURN_IF_ERROR(measure::serve_controller(
        controller, *contender, {.group = group_, .rank = seat_.rank, .ranks = seat_.ranks}));
    return ExitCode::kDone;
  }

 private:
  Result<std::unique_ptr<measure::Contender>> make_contender() const {
    if (group_ == "memcpy") {
      COHORT_ASSIGN_OR_RETURN(StartGate gate, StartGate::open(seat_.folder + "/gate", seat_.ranks));
      return std::make_unique<CopyContender>(std::move(gate), seat_.rank, seat_.ranks);
    }
    if (group_ == "bare_tcp") {
      COHORT_ASSIGN_OR_RETURN(auto contender, SocketContender::open(seat_.folder, seat_.rank, seat_.ranks));
      return std::unique_ptr<measure::Contender>(std::move(contender));
    }
    if (group_ == "tcp" || group_ == "tls") {
      const auto secrecy = group_ == "tls" ? net::Secrecy::kTls : net::Secrecy::kClear;
      COHORT_ASSIGN_OR_RETURN(BenchCommunicator bench, make_tcp_communicator(seat_, secrecy));
      return std::make_unique<CommunicatorContender>(std::move(bench));
    }
    if (group_ != "cohort") {
      return Error(ErrorCode::kUsage,
                   fmt::format("'{}' is not a group: expected cohort, tcp, tls, memcpy or bare_tcp", group_));
    }
    COHORT_ASSIGN_OR_RETURN(BenchCommunicator bench, make_bench_communicator(seat_));
    return std::make_unique<CommunicatorContender>(std::move(bench));
  }

  std::string group_;
  BenchSeat seat_;
  bool pin_ = false;
};

}  // namespace

std::unique_ptr<Command> make_bench_rank_command() {
  return std::make_unique<BenchRankCommand>();
}

}  // namespace cohort::tool
