#include "config/keys.h"

#include "base/nearest.h"

#include <algorithm>

namespace cohort::config {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMiB = 1ull << 20;
constexpr std::uint64_t kGiB = 1ull << 30;
constexpr std::uint64_t kTiB = 1ull << 40;

// The address of a member, as a Field.
#define COHORT_FIELD(member)       \
  {                                \
    [](Config & config) -> auto& { \
      return config.member;        \
    }                              \
  }

Key log_level() {
  std::vector<std::string> words;
  for (int level = 0; level <= static_cast<int>(LogLevel::kError); ++level) {
    words.emplace_back(name(static_cast<LogLevel>(level)));
  }
  return choice(
      "log.level", words, "warning",
      [](Config& config, std::size_t index) { config.log.level = static_cast<LogLevel>(index); },
      [](const Config& config) { return static_cast<std::size_t>(config.log.level); },
      "The least serious kind of message that is still written.");
}

Key log_format() {
  return choice(
      "log.format", {"text", "json"}, "text",
      [](Config& config, std::size_t index) { config.log.format = static_cast<LogFormat>(index); },
      [](const Config& config) { return static_cast<std::size_t>(config.log.format); },
      "Messages as plain lines for people, or one JSON object a line for machines.");
}

}  // namespace

std::vector<Key> make_keys() {
  return {
      log_level(),
      log_format(),

      whole_number("launch.ranks", COHORT_FIELD(launch.ranks), 1, {1, 65536},
                   "How many processes train together on this machine."),
      optional_whole_number("launch.threads_per_rank", COHORT_FIELD(launch.threads_per_rank), {1, 1024},
                            "Compute threads of each rank; unset, the usable cores are shared out evenly."),
      size("launch.memory_per_rank", COHORT_FIELD(launch.memory_per_rank), kGiB, {16 * kMiB, 64 * kTiB},
           "What one rank is expected to need of memory, shared memory not counted."),
      size("launch.shared_memory_per_rank", COHORT_FIELD(launch.shared_memory_per_rank), 256 * kMiB,
           {0, 64 * kTiB},
           "What one rank is expected to share with its peers on the machine: its gradient buckets."),
      whole_number("launch.open_files_per_rank", COHORT_FIELD(launch.open_files_per_rank), 256, {16, 1048576},
                   "How many files and sockets one rank may hold open."),
      text_list("launch.interfaces", COHORT_FIELD(launch.interfaces),
                "Network interfaces that the job needs; each must exist and be up."),

      flag("doctor.probe_libtorch", COHORT_FIELD(doctor.probe_libtorch), true,
           "Start a small program that loads libtorch and multiplies two matrices."),
      duration("doctor.probe_limit", COHORT_FIELD(doctor.probe_limit), 30s, {100ms, 10min},
               "How long a program started by the examination may run before it is ended."),
      real_number("doctor.memory_headroom", COHORT_FIELD(doctor.memory_headroom), 0.1, {0.0, 0.9},
                  "The share of the available memory that a job must leave free."),
  };
}

const Key* find_key(std::span<const Key> keys, std::string_view name) {
  for (const Key& key : keys) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

std::string_view section_of(std::string_view name) {
  const auto dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

std::vector<std::string> section_names(std::span<const Key> keys) {
  std::vector<std::string> names;
  for (const Key& key : keys) {
    const std::string section(section_of(key.name));
    if (std::find(names.begin(), names.end(), section) == names.end()) names.push_back(section);
  }
  return names;
}

std::optional<std::string> nearest_key(std::span<const Key> keys, std::string_view name) {
  const std::string_view section = section_of(name);
  const std::string_view leaf = section.empty() ? name : name.substr(section.size() + 1);
  for (const Key& key : keys) {
    if (key.name.substr(section_of(key.name).size() + 1) == leaf) return key.name;
  }
  std::vector<std::string> names;
  for (const Key& key : keys) names.push_back(key.name);
  if (auto found = nearest(name, names)) return found;

  std::vector<std::string> leaves;
  for (const std::string& full : names) leaves.push_back(full.substr(section_of(full).size() + 1));
  const auto close_leaf = nearest(leaf, leaves);
  if (!close_leaf) return std::nullopt;
  return names[static_cast<std::size_t>(std::find(leaves.begin(), leaves.end(), *close_leaf) -
                                        leaves.begin())];
}

}  // namespace cohort::config
