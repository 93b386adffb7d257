#pragma once

#include "base/result.h"
#include "exit_code.h"
#include "session.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cohort::tool {

/// One command of the tool: declares its options, then runs with the values that the user gave.
///
/// Lifetime: created once per process; add_options() is called once, before run().
/// Failure: run() returns errors; the tool prints them and derives its exit code from their code.
class Command {
 public:
  virtual ~Command() = default;

  /// The words of the command: {"config", "explain"}.
  virtual std::vector<std::string> words() const = 0;
  /// A summary of one line for the list of commands.
  virtual std::string summary() const = 0;
  /// Declares options and positional arguments on `app`; their values are stored in this object.
  virtual void add_options(CLI::App& app) = 0;
  virtual Result<ExitCode> run(Session& session) = 0;

  /// Receives the words of another program, from the first word that is not an option on, unchanged; null for
  /// a command that runs no program.
  virtual std::vector<std::string>* program_words() { return nullptr; }

  /// The possible values of `option` (`--set`) or, if `option` is empty, of a positional argument. Empty: a
  /// file name or any text.
  virtual std::vector<std::string> candidates([[maybe_unused]] const std::string& option) const { return {}; }
};

}  // namespace cohort::tool
