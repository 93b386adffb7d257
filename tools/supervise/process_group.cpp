#include "supervise/process_group.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace cohort::supervise {
namespace {

struct Member {
  char state = '?';
  pid_t group = 0;
};

// The text is `pid (name) state parent group …`; the name may contain any character, also brackets.
std::optional<Member> parse_stat(std::string_view text) {
  const auto name_end = text.rfind(") ");
  if (name_end == std::string_view::npos || name_end + 4 >= text.size()) return std::nullopt;
  Member member{.state = text[name_end + 2]};
  std::string_view rest = text.substr(name_end + 4);
  rest.remove_prefix(std::min(rest.size(), rest.find(' ') + 1));
  const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), member.group);
  if (parsed.ec != std::errc()) return std::nullopt;
  return member;
}

bool is_number(const std::string& name) {
  return name.find_first_not_of("0123456789") == std::string::npos;
}

// Empty if the process ends during the read: read() then reports an error, where a stream iterator would
// throw.
std::string beginning_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::array<char, 1024> buffer{};
  file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
  return {buffer.data(), static_cast<std::size_t>(file.gcount())};
}

}  // namespace

std::set<pid_t> living_groups() {
  std::set<pid_t> groups;
  std::error_code failure;
  std::filesystem::directory_iterator entry("/proc", failure);
  for (; !failure && entry != std::filesystem::directory_iterator(); entry.increment(failure)) {
    if (!is_number(entry->path().filename().string())) continue;
    const auto member = parse_stat(beginning_of(entry->path() / "stat"));
    if (member && member->state != 'Z' && member->state != 'X') groups.insert(member->group);
  }
  return groups;
}

bool is_stopped(pid_t process) {
  const auto member =
      parse_stat(beginning_of(std::filesystem::path("/proc") / std::to_string(process) / "stat"));
  return member && (member->state == 'T' || member->state == 't');
}

}  // namespace cohort::supervise
