#include "completion.h"

namespace cohort::tool {
namespace {

/// `cohort completion bash|zsh`: the script to source.
class CompletionCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"completion"}; }
  std::string summary() const override { return "Print the completion script of a shell: bash or zsh"; }
  void add_options(CLI::App& app) override { app.add_option("shell", shell_, "bash or zsh")->required(); }
  std::vector<std::string> candidates(const std::string& option) const override {
    return option.empty() ? std::vector<std::string>{"bash", "zsh"} : std::vector<std::string>{};
  }

  Result<ExitCode> run(Session& session) override {
    COHORT_ASSIGN_OR_RETURN(const std::string script, completion_script(shell_));
    session.out << script;
    return ExitCode::kDone;
  }

 private:
  std::string shell_;
};

/// `cohort complete -- WORDS…`: what the script asks; hidden, as people have no use for it.
class CompleteCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"complete"}; }
  std::string summary() const override { return ""; }
  void add_options(CLI::App& app) override { app.add_option("words", typed_, "The arguments so far"); }

  Result<ExitCode> run(Session& session) override {
    for (const std::string& word : completions(CommandLine(), typed_)) session.out << word << '\n';
    return ExitCode::kDone;
  }

 private:
  std::vector<std::string> typed_;
};

}  // namespace

std::unique_ptr<Command> make_completion_command() {
  return std::make_unique<CompletionCommand>();
}
std::unique_ptr<Command> make_complete_command() {
  return std::make_unique<CompleteCommand>();
}

}  // namespace cohort::tool
