#pragma once

#include "commands.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace cohort::tool {

/// All commands as one tree of words and options, ready to parse.
///
/// Lifetime: owns the commands.
class CommandLine {
 public:
  CommandLine();

  /// Parses the arguments (without the program's name) and returns the command to run. When help was
  /// requested, returns null and leaves the text in `help`.
  /// Failure: kUsage.
  Result<Command*> parse(std::vector<std::string> arguments, std::string& help);

  /// The number of `arguments` that belong to the tool: all, or those before the words of a program that it
  /// runs. A `--` between the two is counted as the tool's.
  std::size_t count_own(const std::vector<std::string>& arguments) const;

  const CLI::App& app() const { return *app_; }
  /// The command of `app`, a node of the tree; null for a group such as `config`.
  const Command* command_of(const CLI::App* app) const;

 private:
  CLI::App* node(const std::vector<std::string>& words, const std::string& summary);
  Error explained(const CLI::ParseError& failure) const;
  const CLI::App* chosen() const;

  std::vector<std::unique_ptr<Command>> commands_;
  std::unique_ptr<CLI::App> app_;
  std::vector<std::pair<const CLI::App*, Command*>> nodes_;
};

/// The full name of a node: "cohort config explain".
std::string full_name(const CLI::App* app);

/// The visible subcommands of a node.
std::vector<const CLI::App*> visible_subcommands(const CLI::App* app);

}  // namespace cohort::tool
