#include "config/keys.h"
#include "config/load.h"
#include "update/settings.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::config {
namespace {

// The kinds of data that a key of [data] has an effect on. Keys that are not listed have an effect on all
// kinds.
struct Effect {
  std::string_view key;
  std::vector<std::string_view> kinds;
};

std::vector<Effect> effects() {
  return {{"data.path", {"idx", "csv", "text"}},
          {"data.test_path", {"idx", "csv", "text"}},
          {"data.tokens", {"text"}},
          {"data.target_column", {"csv"}},
          {"data.target", {"csv"}},
          {"data.samples", {"digits", "spirals", "regression", "markov"}},
          {"data.test_samples", {"digits", "spirals", "regression", "markov"}},
          {"data.test_share", {"idx", "csv", "text"}},
          {"data.split", {"idx", "csv", "text"}},
          {"data.classes", {"digits", "spirals", "markov"}},
          {"data.features", {"regression"}},
          {"data.image_size", {"digits"}},
          {"data.noise", {"digits", "spirals", "regression"}},
          {"data.context", {"text", "markov"}},
          {"data.stride", {"text"}},
          {"data.normalize", {"idx", "csv", "digits"}}};
}

// Nothing if the key has its default value, be it written or not.
const std::string* location_if_changed(std::span<const Key> keys, const Loaded& loaded,
                                       std::string_view name) {
  const auto location = loaded.locations.find(std::string(name));
  const Key* const key = find_key(keys, name);
  if (location == loaded.locations.end() || key->show(loaded.config) == key->fallback) return nullptr;
  return &location->second;
}

void check_kind(std::span<const Key> keys, const Loaded& loaded, std::vector<std::string>& mistakes) {
  const std::string& kind = loaded.config.data.kind;
  for (const Effect& effect : effects()) {
    if (std::find(effect.kinds.begin(), effect.kinds.end(), kind) != effect.kinds.end()) continue;
    if (const std::string* location = location_if_changed(keys, loaded, effect.key)) {
      mistakes.push_back(fmt::format("{}: {} has no effect on data.kind = \"{}\", only on {}: leave it out",
                                     *location, effect.key, kind, fmt::join(effect.kinds, ", ")));
    }
  }
}

// The settings of a split, where no split is made.
void check_split(std::span<const Key> keys, const Loaded& loaded, std::vector<std::string>& mistakes) {
  const DataConfig& data = loaded.config.data;
  const std::string* split = location_if_changed(keys, loaded, "data.split");
  if (!data.test_path.empty()) {
    for (const char* const key : {"data.split", "data.test_share"}) {
      if (const std::string* location = location_if_changed(keys, loaded, key)) {
        mistakes.push_back(fmt::format(
            "{}: {} has no effect, since data.test_path names the test data: leave one out", *location, key));
      }
    }
  } else if (split != nullptr && data.test_share == 0.0) {
    mistakes.push_back(
        fmt::format("{}: data.split has no effect with data.test_share = 0: leave one out", *split));
  }
  if (data.kind == "text" && data.split != "auto" && data.split != "end") {
    mistakes.push_back(
        fmt::format("{}: data.split = \"{}\" is not for data.kind = \"text\": samples of text "
                    "may overlap, so the test data is the end of the text",
                    *split, data.split));
  }
}

// The settings of an optimizer, where another one is chosen.
void check_optimizer_effect(std::span<const Key> keys, const Loaded& loaded,
                            std::vector<std::string>& mistakes) {
  const std::string& name = loaded.config.optimizer.name;
  for (const Key& key : keys) {
    if (section_of(key.name) != "optimizer") continue;
    const std::vector<std::string> users = users_of(std::string_view(key.name).substr(10));
    if (users.empty() || std::find(users.begin(), users.end(), name) != users.end()) continue;
    if (const std::string* location = location_if_changed(keys, loaded, key.name)) {
      mistakes.push_back(
          fmt::format("{}: {} has no effect on optimizer.name = \"{}\", only on {}: leave it out", *location,
                      key.name, name, fmt::join(users, ", ")));
    }
  }
}

}  // namespace

std::vector<std::string> check_effect(std::span<const Key> keys, const Loaded& loaded) {
  std::vector<std::string> mistakes;
  check_kind(keys, loaded, mistakes);
  check_split(keys, loaded, mistakes);
  check_optimizer_effect(keys, loaded, mistakes);
  return mistakes;
}

}  // namespace cohort::config
