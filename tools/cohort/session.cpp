#include "session.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <sys/ioctl.h>
#include <unistd.h>

namespace cohort::tool {
namespace {

constexpr int kNarrowest = 60;
constexpr int kWidest = 160;
constexpr const char* kClearLine = "\r\033[K";

std::map<std::string, std::string> read_environment(char** environment) {
  std::map<std::string, std::string> variables;
  for (char** entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

std::optional<int> columns_of_terminal(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

}  // namespace

std::string Session::coloured(std::string_view text, Colour colour) const {
  return screen().coloured(text, colour);
}

observe::Screen Session::screen() const {
  return {.colours = out_is_terminal ? observe::Colours::kShown : observe::Colours::kHidden,
          .columns = width};
}

Session make_session(std::ostream& out, char** environment) {
  Session session{.out = out, .environment = read_environment(environment), .program = {}};
  std::error_code ignored;
  session.program = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  const auto& variables = session.environment;
  const bool is_dumb = variables.count("TERM") > 0 && variables.at("TERM") == "dumb";
  const bool wanted = variables.count("NO_COLOR") == 0 && !is_dumb;
  session.out_is_terminal = wanted && ::isatty(STDOUT_FILENO) == 1;
  session.err_is_terminal = wanted && ::isatty(STDERR_FILENO) == 1;
  const auto out_columns = columns_of_terminal(STDOUT_FILENO);
  if (out_columns) session.width = std::clamp(*out_columns, kNarrowest, kWidest);
  if (!is_dumb) {
    session.out_columns = out_columns;
    session.err_columns = columns_of_terminal(STDERR_FILENO);
  }
  return session;
}

ProgressLine::ProgressLine() : shown_(::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::cerr << kClearLine << std::flush;
}

void ProgressLine::say(const std::string& text) const {
  if (shown_) std::cerr << kClearLine << text << std::flush;
}

void ProgressLine::keep(const std::string& text) const {
  std::cerr << (shown_ ? kClearLine : "") << "cohort: " << text << '\n' << std::flush;
}

}  // namespace cohort::tool
