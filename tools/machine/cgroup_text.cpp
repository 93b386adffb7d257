#include "machine/cgroup.h"

#include "machine/kernel_text.h"

#include <algorithm>

namespace cohort::machine {
namespace {

// More than any machine's memory: version 1 writes the largest multiple of the page size for "no limit".
constexpr std::uint64_t kNoLimitBytes = std::uint64_t{1} << 62;

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  for (const std::string_view name : split(list, ',')) {
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

// The kernel writes spaces and backslashes in paths as three octal digits: `\040`.
std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view digits = text.substr(std::min(i + 1, text.size()), 3);
    const bool escape =
        text[i] == '\\' && digits.size() == 3 &&
        std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '7'; });
    if (!escape) {
      result += text[i];
      continue;
    }
    result += static_cast<char>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + (digits[2] - '0'));
    i += 3;
  }
  return result;
}

Result<double> cores_of(std::string_view quota, std::string_view period) {
  COHORT_ASSIGN_OR_RETURN(const std::uint64_t used, parse_count(quota));
  COHORT_ASSIGN_OR_RETURN(const std::uint64_t within, parse_count(period));
  if (used == 0 || within == 0) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("{} of {} µs is not a CPU quota: both must be positive", used, within));
  }
  return static_cast<double>(used) / static_cast<double>(within);
}

}  // namespace

Result<std::vector<CgroupMembership>> parse_cgroup_memberships(std::string_view text) {
  std::vector<CgroupMembership> memberships;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    const auto first = line.find(':');
    const auto second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos || line.substr(second + 1).substr(0, 1) != "/") {
      return Error(ErrorCode::kCorrupt, fmt::format("'{}' is not of the form number:names:/path", line));
    }
    const std::string_view names = line.substr(first + 1, second - first - 1);
    memberships.push_back({.kind = names.empty() ? CgroupKind::kV2 : CgroupKind::kV1,
                           .controllers = names_in(names),
                           .path = std::string(line.substr(second + 1))});
  }
  return memberships;
}

Result<std::vector<CgroupMount>> parse_cgroup_mounts(std::string_view mountinfo) {
  std::vector<CgroupMount> mounts;
  for (const std::string_view line : split(mountinfo, '\n')) {
    if (line.empty()) continue;
    const auto words = words_of(line);
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 6 || words.end() - dash < 4) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("'{}' is not a line of mountinfo: it has too few fields", line));
    }
    if (dash[1] != "cgroup" && dash[1] != "cgroup2") continue;
    const CgroupKind kind = dash[1] == "cgroup" ? CgroupKind::kV1 : CgroupKind::kV2;
    mounts.push_back({.kind = kind,
                      .controllers = kind == CgroupKind::kV1 ? names_in(dash[3]) : std::vector<std::string>{},
                      .root = unescaped(words[3]),
                      .point = unescaped(words[4])});
  }
  return mounts;
}

Result<std::optional<double>> parse_cpu_max(std::string_view text) {
  const auto words = words_of(text);
  if (words.size() != 2) {
    return Error(ErrorCode::kCorrupt, fmt::format("'{}' is not a quota and a period", trimmed(text)));
  }
  if (words[0] == "max") return std::optional<double>();
  COHORT_ASSIGN_OR_RETURN(const double cores, cores_of(words[0], words[1]));
  return std::optional<double>(cores);
}

Result<std::optional<double>> parse_cpu_quota(std::string_view quota, std::string_view period) {
  if (trimmed(quota) == "-1") return std::optional<double>();
  COHORT_ASSIGN_OR_RETURN(const double cores, cores_of(quota, period));
  return std::optional<double>(cores);
}

Result<std::optional<std::uint64_t>> parse_memory_limit(std::string_view text) {
  if (trimmed(text) == "max") return std::optional<std::uint64_t>();
  COHORT_ASSIGN_OR_RETURN(const std::uint64_t bytes, parse_count(text));
  if (bytes >= kNoLimitBytes) return std::optional<std::uint64_t>();
  return std::optional<std::uint64_t>(bytes);
}

}  // namespace cohort::machine
