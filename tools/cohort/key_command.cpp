#include "commands.h"
#include "net/job_key.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

/// `cohort key FILE`: creates a key for jobs that another launcher starts on several hosts.
class KeyCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"key"}; }
  std::string summary() const override {
    return "Create a key with which the ranks of a job on several hosts authenticate each other";
  }
  void add_options(CLI::App& app) override {
    app.add_option("file", file_, "The file to create; only you can read it")->required()->type_name("FILE");
  }
  Result<ExitCode> run(Session& session) override {
    COHORT_ASSIGN_OR_RETURN(const net::JobKey key, net::JobKey::make());
    COHORT_RETURN_IF_ERROR(key.write(file_));
    session.out << fmt::format("Set COHORT_KEY_FILE={} for all ranks; all hosts must see that file.\n",
                               file_);
    return ExitCode::kDone;
  }

 private:
  std::string file_;
};

}  // namespace

std::unique_ptr<Command> make_key_command() {
  return std::make_unique<KeyCommand>();
}

}  // namespace cohort::tool
