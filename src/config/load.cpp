#include "config/load.h"

#include "base/check.h"
#include "base/nearest.h"
#include "config/document.h"
#include "config/key_reading.h"
#include "config/keys.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::config {
namespace {

bool is_section(std::span<const Key> keys, std::string_view name) {
  const auto sections = section_names(keys);
  return std::find(sections.begin(), sections.end(), name) != sections.end();
}

bool is_table(const Value& value) {
  const auto* other = std::get_if<Value::Other>(&value.data);
  return other != nullptr && other->description == "a table";
}

std::string unknown_key(std::span<const Key> keys, const Entry& entry) {
  if (is_section(keys, entry.key)) {
    return fmt::format("{}: '{}' is a section, not a key: write [{}] on a line of its own and its keys below",
                       entry.location, entry.key, entry.key);
  }
  if (const auto renamed = find_renamed(entry.key)) {
    return is_table(entry.value) || renamed->old_name != entry.key
               ? fmt::format("{}: there is no section [{}]; {}", entry.location, renamed->old_name,
                             renamed->remedy)
               : fmt::format("{}: there is no key '{}'; {}", entry.location, entry.key, renamed->remedy);
  }
  // A key that is used as a section: launch.ranks.x, or [launch.ranks].
  for (std::string_view outer = section_of(entry.key); !outer.empty(); outer = section_of(outer)) {
    if (const Key* key = find_key(keys, outer)) {
      return fmt::format("{}: '{}' is a key, not a section; it takes {}", entry.location, outer,
                         key->allowed);
    }
  }
  if (is_table(entry.value)) {
    const auto meant = nearest(entry.key, section_names(keys));
    return fmt::format("{}: there is no section [{}]; {}", entry.location, entry.key,
                       meant ? fmt::format("did you mean [{}]?", *meant)
                             : fmt::format("the sections are {}", fmt::join(section_names(keys), ", ")));
  }
  if (const auto meant = nearest_key(keys, entry.key)) {
    return fmt::format("{}: there is no key '{}'; did you mean '{}'?", entry.location, entry.key, *meant);
  }
  return fmt::format("{}: there is no key '{}'; `cohort config explain` lists all keys", entry.location,
                     entry.key);
}

std::string wrong_value(const Key& key, const Entry& entry, const Error& error) {
  std::string text = fmt::format("{}: {} = {} {}; allowed: {}", entry.location, key.name, entry.value.written,
                                 error.message(), key.allowed);
  const auto* word = std::get_if<std::string>(&entry.value.data);
  const auto renamed = word == nullptr ? std::nullopt : find_renamed_value(key.name, *word);
  if (renamed) return fmt::format("{}; {}", text, *renamed);
  if (!error.remedy().empty()) text += fmt::format(". {}", error.remedy());
  return text;
}

// An empty section sets nothing and is allowed.
bool is_empty_section(std::span<const Key> keys, const Entry& entry) {
  return is_section(keys, entry.key) && is_table(entry.value);
}

std::optional<std::string> apply(std::span<const Key> keys, const Entry& entry, Loaded& loaded) {
  if (is_empty_section(keys, entry)) return std::nullopt;
  const Key* key = find_key(keys, entry.key);
  if (key == nullptr) return unknown_key(keys, entry);
  const Status status = key->read(entry.value, loaded.config);
  if (!status) return wrong_value(*key, entry, status.error());
  loaded.locations[entry.key] = entry.location;
  return std::nullopt;
}

}  // namespace

Error all_mistakes(std::vector<std::string> mistakes) {
  constexpr std::size_t kMostShown = 20;
  if (mistakes.size() == 1) return {ErrorCode::kUsage, mistakes.front()};
  const std::string title = fmt::format("{} mistakes:", mistakes.size());
  if (mistakes.size() > kMostShown) {
    const std::size_t left_out = mistakes.size() - kMostShown;
    mistakes.resize(kMostShown);
    mistakes.push_back(fmt::format("… and {} more", left_out));
  }
  return {ErrorCode::kUsage, fmt::format("{}\n  {}", title, fmt::join(mistakes, "\n  "))};
}

namespace {

// A name or value, cut to the length that a message has room for.
std::string shortened(const std::string& text) {
  constexpr std::size_t kMostShown = 100;
  return text.size() <= kMostShown ? text : text.substr(0, kMostShown) + "…";
}

// On the command line text needs no quotes, even if it looks like a number: --set train.directory=nan.
void take_text_as_it_is(std::span<const Key> keys, const std::string& assignment, Entry& entry) {
  const Key* key = find_key(keys, entry.key);
  const bool is_list = std::holds_alternative<Value::TextList>(entry.value.data);
  if (key == nullptr || (key->type != "text" && key->type != kPathType) || is_list) return;
  if (std::holds_alternative<std::string>(entry.value.data)) return;
  entry.value.data = assignment.substr(assignment.find('=') + 1);
}

// Makes the path of a file that the job reads relative to `folder`.
void settle_path(std::span<const Key> keys, const std::filesystem::path& folder, Entry& entry) {
  const Key* key = find_key(keys, entry.key);
  auto* written = std::get_if<std::string>(&entry.value.data);
  if (key == nullptr || key->type != kPathType || written == nullptr || written->empty()) return;
  *written = (folder / *written).lexically_normal().string();
}

// `runs/job` for `jobs/job.toml`.
std::string run_directory(const std::string& file_name) {
  const std::string stem = std::filesystem::path(file_name).stem().string();
  return fmt::format("runs/{}", stem.empty() ? "job" : stem);
}

}  // namespace

Config default_config(std::span<const Key> keys) {
  Config config;
  for (const Key& key : keys) {
    if (key.fallback.empty()) continue;
    const auto entry = parse_override(key.name + "=" + key.fallback);
    COHORT_CHECK(entry.has_value(), "the default of {} is not TOML", key.name);
    COHORT_CHECK(key.read(entry->value, config).has_value(), "the default of {} is not allowed", key.name);
  }
  return config;
}

Result<Loaded> load(std::span<const Key> keys, const Sources& sources) {
  Loaded loaded{default_config(keys), {}};
  std::vector<std::string> mistakes;
  COHORT_ASSIGN_OR_RETURN(std::vector<Entry> entries, parse_document(sources.text, sources.file_name));
  const std::filesystem::path here = sources.working_directory;
  const std::filesystem::path folder = (here / sources.file_name).parent_path();
  for (Entry& entry : entries) settle_path(keys, folder, entry);
  for (const std::string& assignment : sources.overrides) {
    auto entry = parse_override(assignment);
    if (entry) {
      take_text_as_it_is(keys, assignment, *entry);
      settle_path(keys, here, *entry);
      entries.push_back(std::move(*entry));
    } else {
      mistakes.push_back(entry.error().text());
    }
  }
  for (Entry& entry : entries) {
    entry.value.written = shortened(entry.value.written);
    entry.location = shortened(entry.location);
    if (find_key(keys, entry.key) == nullptr) entry.key = shortened(entry.key);
    if (auto mistake = apply(keys, entry, loaded)) mistakes.push_back(std::move(*mistake));
  }
  if (mistakes.empty()) {
    mistakes = check_together(loaded);
    for (std::string& mistake : check_effect(keys, loaded)) mistakes.push_back(std::move(mistake));
  }
  if (!mistakes.empty()) return all_mistakes(std::move(mistakes));
  if (loaded.config.train.directory.empty()) loaded.config.train.directory = run_directory(sources.file_name);
  return loaded;
}

LinkSettings links_of(const Loaded& job, const LinkSettings& around) {
  LinkSettings settings = around;
  const CommunicationConfig& values = job.config.communication;
  const auto is_set = [&](const char* key) { return job.locations.contains(key); };
  if (is_set("communication.backend")) settings.backend = backend_named(values.backend);
  if (is_set("communication.algorithm")) settings.algorithm = values.algorithm;
  if (is_set("communication.chunk")) settings.chunk_bytes = values.chunk;
  if (is_set("precision.gradients")) settings.wire = values.wire;
  if (is_set("communication.sockets")) settings.sockets = values.sockets;
  if (is_set("communication.explain")) settings.explain = values.explain;
  return settings;
}

}  // namespace cohort::config
