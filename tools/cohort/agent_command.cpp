#include "commands.h"
#include "supervise/agent.h"

#include <CLI/CLI.hpp>
#include <unistd.h>

namespace cohort::tool {
namespace {

/// `cohort agent`: started by a launcher on another host; hidden.
class AgentCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"agent"}; }
  std::string summary() const override { return ""; }
  void add_options(CLI::App&) override {}
  Result<ExitCode> run(Session&) override {
    COHORT_RETURN_IF_ERROR(supervise::run_agent(STDIN_FILENO, STDOUT_FILENO));
    return ExitCode::kDone;
  }
};

}  // namespace

std::unique_ptr<Command> make_agent_command() {
  return std::make_unique<AgentCommand>();
}

}  // namespace cohort::tool
