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

/// One command of the tool. It declares its options, then runs with what the user gave.
///
/// Lifetime: made once per process; add_options() is called once, before run().
/// Failure: run() returns errors; the tool prints them and turns their code into an exit code.
class Command {
 public:
  virtual ~Command() = default;

  /// The words that call it: {"config", "explain"}.
  virtual std::vector<std::string> words() const = 0;
  /// One line for the list of commands.
  virtual std::string summary() const = 0;
  /// Declares options and positional arguments on `app`; the values land in this object.
  virtual void add_options(CLI::App& app) = 0;
  virtual Result<ExitCode> run(Session& session) = 0;

  /// Where the words from the first one that is no option on belong to another program, they are put here,
  /// untouched; null for a command that takes no such words.
  virtual std::vector<std::string>* program_words();

  /// What may stand for `option` (`--set`) or, with an empty one, for a positional argument. Empty: a file
  /// name, or free.
  virtual std::vector<std::string> candidates(const std::string& option) const;
};

}  // namespace cohort::tool
