#include "config/keys.h"

#include "base/nearest.h"
#include "config/sections.h"

#include <algorithm>
#include <iterator>

namespace cohort::config {

std::vector<Key> make_keys() {
  std::vector<Key> keys;
  for (const auto section : {log_keys, launch_keys, communication_keys, doctor_keys, data_keys, model_keys,
                             optimizer_keys, solver_keys, schedule_keys, precision_keys, average_keys,
                             mask_keys, train_keys, checkpoint_keys, trace_keys}) {
    std::vector<Key> rows = section();
    std::move(rows.begin(), rows.end(), std::back_inserter(keys));
  }
  return keys;
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
