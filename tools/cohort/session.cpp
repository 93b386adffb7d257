#include "session.h"

#include <algorithm>
#include <filesystem>
#include <sys/ioctl.h>
#include <unistd.h>

namespace cohort::tool {
namespace {

constexpr int kNarrowest = 60;
constexpr int kWidest = 160;

std::string_view escape_of(Colour colour) {
  switch (colour) {
    case Colour::kNone:
      return "";
    case Colour::kGreen:
      return "\033[32m";
    case Colour::kYellow:
      return "\033[33m";
    case Colour::kRed:
      return "\033[1;31m";
    case Colour::kBold:
      return "\033[1m";
    case Colour::kFaint:
      return "\033[2m";
  }
  return "";
}

std::map<std::string, std::string> read_environment(char** environment) {
  std::map<std::string, std::string> variables;
  for (char** entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

int terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 100;
  return std::clamp<int>(size.ws_col, kNarrowest, kWidest);
}

}  // namespace

std::string Session::coloured(std::string_view text, Colour colour) const {
  if (!out_is_terminal || colour == Colour::kNone) return std::string(text);
  return std::string(escape_of(colour)) + std::string(text) + "\033[0m";
}

Session make_session(std::ostream& out, char** environment) {
  Session session{.out = out, .environment = read_environment(environment), .program = {}};
  std::error_code ignored;
  session.program = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  const auto& variables = session.environment;
  const bool wanted =
      variables.count("NO_COLOR") == 0 && (variables.count("TERM") == 0 || variables.at("TERM") != "dumb");
  session.out_is_terminal = wanted && ::isatty(STDOUT_FILENO) == 1;
  session.err_is_terminal = wanted && ::isatty(STDERR_FILENO) == 1;
  session.width = terminal_width();
  return session;
}

}  // namespace cohort::tool
