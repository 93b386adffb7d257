#pragma once

#include "config/key.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::config {

/// The table of all keys, section by section (keys_*.cpp). Parser, help, completion and reference page use
/// it.
std::vector<Key> make_keys();

/// The row of `name`, or null.
const Key* find_key(std::span<const Key> keys, std::string_view name);

/// The names of all sections, in the order of the table.
std::vector<std::string> section_names(std::span<const Key> keys);

/// The part of a name before its last dot.
std::string_view section_of(std::string_view name);

/// The key that an unknown name probably means: a similar name, or the same name in another section.
std::optional<std::string> nearest_key(std::span<const Key> keys, std::string_view name);

/// A word that job files and command lines had before, or that PyTorch has, and where its meaning is found
/// here.
struct Renamed {
  std::string_view old_name;  ///< a key `train.batch`, a section `update`, an option `--engine`
  std::string_view remedy;    ///< `it is called train.batch_size`
};

/// The row of a word, or nothing for another word. An unknown key of a section that is gone
/// gives the row of the section.
std::optional<Renamed> find_renamed(std::string_view name);

/// The remedy for a value that is no longer known: `optimizer.name` = `momentum`.
std::optional<std::string_view> find_renamed_value(std::string_view key, std::string_view value);

}  // namespace cohort::config
