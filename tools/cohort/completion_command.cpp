#include "command_line.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

constexpr const char* kBash = R"(# cohort: completion for bash. Use it with: source <(cohort completion bash)
_cohort() {
  COMPREPLY=()
  local line
  # Readline splits words at '='; put the pieces of key=value together again.
  local words=() i
  for ((i = 1; i <= COMP_CWORD; i++)); do
    if ((i > 1)) && { [[ ${COMP_WORDS[i]} == '=' ]] || [[ ${COMP_WORDS[i - 1]} == '=' ]]; }; then
      words[${#words[@]}-1]+="${COMP_WORDS[i]}"
    else
      words+=("${COMP_WORDS[i]}")
    fi
  done
  while IFS= read -r line; do
    [[ ${COMP_WORDS[COMP_CWORD]} == '=' || ${COMP_WORDS[COMP_CWORD - 1]} == '=' ]] && line=${line#*=}
    [[ -n $line ]] && COMPREPLY+=("$line")
  done < <("${COMP_WORDS[0]}" complete -- "${words[@]}" 2>/dev/null)
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
  return 0
}
complete -o default -F _cohort cohort
)";

constexpr const char* kZsh = R"(#compdef cohort
# cohort: completion for zsh. Use it with: source <(cohort completion zsh)
_cohort() {
  local -a found
  found=("${(@f)$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=("${(@)found:#}")
  if (( ${#found} == 0 )); then
    _files
  else
    local -a open closed
    open=("${(@M)found:#*=}")
    closed=("${(@)found:#*=}")
    (( ${#open} )) && compadd -S '' -- "${open[@]}"
    (( ${#closed} )) && compadd -- "${closed[@]}"
  fi
}
compdef _cohort cohort
)";

const CLI::Option* option_called(const CLI::App* app, const std::string& word) {
  return word.rfind('-', 0) == 0 ? app->get_option_no_throw(word) : nullptr;
}

bool takes_value(const CLI::Option* option) {
  return option != nullptr && option->get_items_expected_max() > 0;
}

std::vector<std::string> options_of(const CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> possible_words(const CommandLine& command_line, const CLI::App* app,
                                        const std::string& previous, const std::string& typed) {
  const Command* command = command_line.command_of(app);
  if (takes_value(option_called(app, previous))) {
    return command != nullptr ? command->candidates(previous) : std::vector<std::string>{};
  }
  if (typed.rfind('-', 0) == 0) return options_of(app);
  if (command != nullptr) return command->candidates("");
  std::vector<std::string> names;
  for (const CLI::App* child : visible_subcommands(app)) names.push_back(child->get_name());
  return names;
}

// Whether the word being typed belongs to a program that the tool will run.
bool program_has_begun(const CommandLine& command_line, std::vector<std::string> words) {
  if (words.empty()) return false;
  words.pop_back();
  const std::size_t own = command_line.count_own(words);
  return own < words.size() || (own > 0 && words[own - 1] == "--");
}

/// The possible next words: `words` are the arguments so far without the program's name; the last one
/// (perhaps empty) is being typed. Empty where a file name or any text is expected.
std::vector<std::string> completions(const CommandLine& command_line, const std::vector<std::string>& words) {
  if (program_has_begun(command_line, words)) return {};
  const CLI::App* app = &command_line.app();
  std::string previous;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const auto children = visible_subcommands(app);
    const auto child = std::find_if(children.begin(), children.end(),
                                    [&](const CLI::App* each) { return each->get_name() == words[i]; });
    if (child != children.end()) app = *child;
    previous = words[i];
  }
  const std::string typed = words.empty() ? std::string() : words.back();
  std::vector<std::string> fitting;
  for (const std::string& word : possible_words(command_line, app, previous, typed)) {
    if (word.rfind(typed, 0) == 0) fitting.push_back(word);
  }
  return fitting;
}

Result<std::string> completion_script(const std::string& shell) {
  if (shell == "bash") return std::string(kBash);
  if (shell == "zsh") return std::string(kZsh);
  return Error(ErrorCode::kUsage, fmt::format("there is no completion for the shell '{}'", shell))
      .with_remedy("Use bash or zsh.");
}

/// `cohort completion bash|zsh`: prints the script to source.
class CompletionCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"completion"}; }
  std::string summary() const override { return "Print the completion script for bash or zsh"; }
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

/// `cohort complete -- WORDS…`: called by the completion script; hidden.
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
