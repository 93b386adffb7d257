#include "launch/process_group.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace cohort::launch {
namespace {

struct Member {
  char state = '?';
  pid_t group = 0;
};

// From `pid (name) state parent group …`; the name may hold anything, brackets too.
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

}  // namespace

std::set<pid_t> living_groups() {
  std::set<pid_t> groups;
  std::error_code failure;
  std::filesystem::directory_iterator entry("/proc", failure);
  for (; !failure && entry != std::filesystem::directory_iterator(); entry.increment(failure)) {
    if (!is_number(entry->path().filename().string())) continue;
    std::ifstream file(entry->path() / "stat");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto member = parse_stat(text);
    if (member && member->state != 'Z' && member->state != 'X') groups.insert(member->group);
  }
  return groups;
}

}  // namespace cohort::launch
