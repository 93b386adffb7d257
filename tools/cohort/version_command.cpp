#include "commands.h"
#include "observe/json_text.h"

#include <CLI/CLI.hpp>
#include <cohort/version.h>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

using observe::json_text;

/// `cohort version`: prints the versions of Cohort, libtorch and the compiler.
class VersionCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"version"}; }
  std::string summary() const override { return "Print the versions of Cohort, libtorch and the compiler"; }
  void add_options(CLI::App& app) override { app.add_flag("--json", json_, "One JSON object"); }

  Result<ExitCode> run(Session& session) override {
    if (json_) {
      const nlohmann::ordered_json object{
          {"cohort", version()}, {"libtorch", built_against_libtorch()}, {"compiler", built_with_compiler()}};
      session.out << json_text(object);
    } else {
      session.out << fmt::format("cohort    {}\nlibtorch  {}\ncompiler  {}\n", version(),
                                 built_against_libtorch(), built_with_compiler());
    }
    return ExitCode::kDone;
  }

 private:
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_version_command() {
  return std::make_unique<VersionCommand>();
}

}  // namespace cohort::tool
