#include "commands.h"
#include "doctor/reach.h"
#include "launch/environment.h"

#include <CLI/CLI.hpp>
#include <thread>

namespace cohort::tool {
namespace {

/// `cohort doctor-listen`: prints the addresses of a listener on this host and serves it until the launcher
/// ends this process; hidden.
class DoctorListenCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"doctor-listen"}; }
  std::string summary() const override { return ""; }
  void add_options(CLI::App&) override {}
  Result<ExitCode> run(Session& session) override {
    COHORT_ASSIGN_OR_RETURN(const LaunchFacts facts, launch_facts(session.environment));
    COHORT_ASSIGN_OR_RETURN(const auto listener, ReachListener::open(facts.links.interfaces));
    session.out << listener->target().text() << std::endl;
    std::this_thread::sleep_for(std::chrono::minutes(5));
    return ExitCode::kDone;
  }
};

}  // namespace

std::unique_ptr<Command> make_doctor_listen_command() {
  return std::make_unique<DoctorListenCommand>();
}

}  // namespace cohort::tool
