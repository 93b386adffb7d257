#include "launch/variables.h"

#include <charconv>
#include <fmt/format.h>
#include <optional>

namespace cohort::launch {
namespace {

constexpr std::size_t kMostNodes = 1 << 20;

std::optional<int> parse_positive(std::string_view text) {
  int number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size() || number < 1) return std::nullopt;
  return number;
}

// `2` or `2(x3)`.
bool append_group(std::string_view group, std::vector<int>& tasks) {
  std::optional<int> repeats = 1;
  if (const auto open = group.find("(x"); open != std::string_view::npos) {
    if (group.back() != ')') return false;
    repeats = parse_positive(group.substr(open + 2, group.size() - open - 3));
    group = group.substr(0, open);
  }
  const auto count = parse_positive(group);
  if (!count || !repeats || tasks.size() + static_cast<std::size_t>(*repeats) > kMostNodes) return false;
  tasks.insert(tasks.end(), static_cast<std::size_t>(*repeats), *count);
  return true;
}

}  // namespace

Result<std::vector<int>> parse_tasks_per_node(std::string_view text) {
  std::vector<int> tasks;
  std::string_view rest = text;
  while (true) {
    const auto comma = rest.find(',');
    if (!append_group(rest.substr(0, comma), tasks)) {
      return Error(ErrorCode::kUsage,
                   fmt::format("'{}' is not a list of tasks per node such as 2(x3),1", text))
          .with_remedy("Start the program with srun, or unset Slurm's variables if they were set by hand.");
    }
    if (comma == std::string_view::npos) return tasks;
    rest.remove_prefix(comma + 1);
  }
}

Result<std::optional<std::chrono::system_clock::time_point>> end_of_job(const VariableReader& variables) {
  constexpr const char* kName = "SLURM_JOB_END_TIME";
  const auto text = variables.text(kName);
  if (!text) return std::nullopt;
  std::int64_t seconds = 0;
  const auto [end, failure] = std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (failure != std::errc() || end != text->data() + text->size()) {
    return Error(ErrorCode::kUsage,
                 fmt::format("{} is no number of seconds since 1970", quoted(kName, *text)))
        .with_remedy("Unset it if it was set by hand.");
  }
  return std::chrono::system_clock::time_point(std::chrono::seconds(seconds));
}

std::optional<std::string> first_node(std::string_view list) {
  const std::size_t open = list.find_first_of("[,");
  std::string node(list.substr(0, open));
  if (open != std::string_view::npos && list[open] == '[') {
    const std::size_t close = list.find(']', open);
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view numbers = list.substr(open + 1, close - open - 1);
    node += numbers.substr(0, numbers.find_first_of("-,"));
    // A host name may have text after a bracket, and then another bracket.
    const std::string_view rest = list.substr(close + 1);
    node += rest.substr(0, rest.find(','));
  }
  if (node.empty()) return std::nullopt;
  return node;
}

}  // namespace cohort::launch
