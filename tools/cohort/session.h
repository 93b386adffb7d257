#pragma once

#include "observe/screen.h"

#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace cohort::tool {

using observe::Colour;

/// The surroundings of a command: its streams, environment and terminal.
struct Session {
  std::ostream& out;
  std::map<std::string, std::string> environment;
  std::string program;           ///< the path of this executable
  bool out_is_terminal = false;  ///< colours are written only if set
  bool err_is_terminal = false;  ///< as out_is_terminal, for standard error
  int width = 100;               ///< columns of the terminal
  /// The columns of standard output if it is a terminal on which a line can be overwritten.
  std::optional<int> out_columns{};
  std::optional<int> err_columns{};  ///< as out_columns, for standard error

  /// The text in a colour, or unchanged if standard output is no terminal.
  std::string coloured(std::string_view text, Colour colour) const;
  /// The width and colours for tables.
  observe::Screen screen() const;
};

/// The session of this process; `out` is standard output.
Session make_session(std::ostream& out, char** environment);

/// A line on the terminal that shows the current measurement and disappears at the end. Without a terminal
/// only messages that stay are printed.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void say(const std::string& text) const;
  /// Prints a message of the tool that stays, also without a terminal.
  void keep(const std::string& text) const;

 private:
  const bool shown_;
};

}  // namespace cohort::tool
