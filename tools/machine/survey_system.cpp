#include "machine/survey_parts.h"

#include "machine/kernel_text.h"

#include <cerrno>
#include <sys/utsname.h>
#include <system_error>

namespace cohort::machine {
namespace {

// Unquotes a value as a shell does: single, double or no quotes, and backslash escapes.
std::string unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == text.back() && (text[0] == '"' || text[0] == '\'');
  if (quoted) text = text.substr(1, text.size() - 2);
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    result += text[i];
  }
  return result;
}

Result<std::string> kernel_release() {
  struct utsname answer {};
  if (::uname(&answer) != 0) {
    return Error(ErrorCode::kIo,
                 "cannot read the release of the kernel: " + std::generic_category().message(errno));
  }
  return std::string(answer.release);
}

}  // namespace

Result<std::string> parse_os_name(std::string_view text) {
  for (const std::string_view key : {"PRETTY_NAME", "NAME"}) {
    const auto value = field(text, key, '=');
    if (value && !unquoted(*value).empty()) return unquoted(*value);
  }
  return Error(ErrorCode::kUnsupported, "PRETTY_NAME and NAME are both missing");
}

System survey_system(const ReadText& read) {
  return {.name = parsed(read, "/etc/os-release", parse_os_name), .kernel_release = kernel_release()};
}

}  // namespace cohort::machine
