#include "commands.h"
#include "doctor/reach.h"

#include <CLI/CLI.hpp>

namespace cohort::tool {
namespace {

constexpr std::chrono::seconds kReachLimit(3);  // the second repetition of a lost SYN comes after 3 s

/// `cohort doctor-reach TARGET…`: tries to connect to all targets; hidden. Prints one line for each: its
/// index, and the reason if it was not reached.
class DoctorReachCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"doctor-reach"}; }
  std::string summary() const override { return ""; }
  void add_options(CLI::App& app) override {
    app.add_option("targets", targets_, "What `cohort doctor-listen` printed")->required();
  }
  Result<ExitCode> run(Session& session) override {
    std::vector<ReachTarget> targets;
    for (const std::string& text : targets_) {
      COHORT_ASSIGN_OR_RETURN(ReachTarget target, ReachTarget::parse(text));
      targets.push_back(std::move(target));
    }
    const auto reasons = try_to_reach(targets, kReachLimit);
    for (std::size_t i = 0; i < reasons.size(); ++i) {
      session.out << i << (reasons[i] ? " " + *reasons[i] : "") << std::endl;
    }
    return ExitCode::kDone;
  }

 private:
  std::vector<std::string> targets_;
};

}  // namespace

std::unique_ptr<Command> make_doctor_reach_command() {
  return std::make_unique<DoctorReachCommand>();
}

}  // namespace cohort::tool
