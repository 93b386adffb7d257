#include "command_line.h"

#include <csignal>
#include <fmt/format.h>
#include <iostream>
#include <unistd.h>

namespace cohort::tool {
namespace {

ExitCode report(const Error& error) {
  const bool is_mistake = error.code() == ErrorCode::kUsage;
  std::cerr << "cohort: " << (is_mistake ? error.text() : std::string(error.what())) << '\n';
  return static_cast<ExitCode>(exit_code_of(error.code()));
}

Result<ExitCode> run(std::vector<std::string> arguments, Session& session) {
  CommandLine command_line;
  std::string help;
  COHORT_ASSIGN_OR_RETURN(Command * command, command_line.parse(std::move(arguments), help));
  if (command == nullptr) {
    session.out << help;
    return ExitCode::kDone;
  }
  return command->run(session);
}

ExitCode run_and_report(std::vector<std::string> arguments, Session& session) {
  try {
    const Result<ExitCode> ended = run(std::move(arguments), session);
    if (!ended) return report(ended.error());
    session.out.flush();
    if (!session.out) return report(Error(ErrorCode::kIo, "cannot write to standard output"));
    return *ended;
  } catch (const Error& error) {
    return report(error);
  } catch (const std::exception& exception) {
    return report(BugError(exception.what()));
  }
}

}  // namespace
}  // namespace cohort::tool

int main(int argc, char** argv) {
  using namespace cohort::tool;
  std::signal(SIGCHLD, SIG_DFL);  // the parent may have ignored it, which children inherit
  Session session = make_session(std::cout, environ);
  return static_cast<int>(run_and_report({argv + 1, argv + argc}, session));
}
