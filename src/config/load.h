#pragma once

#include "base/result.h"
#include "config/config.h"
#include "config/key.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace cohort::config {

/// A config and where each value that is not a default was written.
struct Loaded {
  Config config;
  std::map<std::string, std::string> places;
};

/// What load() reads.
struct Sources {
  std::string text;                    ///< the TOML; empty for none
  std::string file_name;               ///< for messages
  std::vector<std::string> overrides;  ///< `a.b=c`, later ones win over earlier ones and over the text
};

/// All defaults of the table.
Config default_config(std::span<const Key> keys);

/// Reads, checks and types everything at once. What is fine value by value is checked together (check.h), and
/// a train.directory that is not set becomes runs/<name of the file>.
/// Failure: kUsage; every mistake is listed, in the order of the file, each with its place and what is
/// allowed.
Result<Loaded> load(std::span<const Key> keys, const Sources& sources);

}  // namespace cohort::config
