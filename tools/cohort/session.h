#pragma once

#include "observe/screen.h"

#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace cohort::tool {

using observe::Colour;

/// What a command gets from the process it runs in.
struct Session {
  std::ostream& out;
  std::map<std::string, std::string> environment;
  std::string program;           ///< the path of this executable
  bool out_is_terminal = false;  ///< colours are written then, and only then
  bool err_is_terminal = false;  ///< the same for standard error
  int width = 100;               ///< columns of the terminal
  /// The columns of the terminal that standard output is, where a line of it can be written over.
  std::optional<int> out_columns{};
  std::optional<int> err_columns{};  ///< the same for standard error

  /// The text in a colour, or as it is where nobody would see colours.
  std::string coloured(std::string_view text, Colour colour) const;
  /// What tables are laid out for.
  observe::Screen screen() const;
};

/// The session of this process, writing to `out` (standard output).
Session make_session(std::ostream& out, char** environment);

}  // namespace cohort::tool
