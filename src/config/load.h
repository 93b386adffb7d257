#pragma once

#include "base/result.h"
#include "config/config.h"
#include "config/key.h"

#include <cohort/link_settings.h>

#include <map>
#include <span>
#include <string>
#include <vector>

namespace cohort::config {

/// A config, and the location of each value that is not a default.
struct Loaded {
  Config config;
  std::map<std::string, std::string> locations;  ///< `launch.ranks` → `job.toml:6`
};

/// The input of load().
struct Sources {
  std::string text;       ///< TOML; may be empty
  std::string file_name;  ///< for messages
  std::vector<std::string>
      overrides;  ///< `launch.ranks=2`; they win over the text, and later ones over earlier ones
};

/// A config of defaults.
Config default_config(std::span<const Key> keys);

/// Parses a job and checks each value, then all values together (check_together()). A train.directory that is
/// not set becomes runs/<name of the file>.
///
/// Failure: kUsage; the message lists all mistakes in the order of the file, each with its location and the
/// allowed values.
Result<Loaded> load(std::span<const Key> keys, const Sources& sources);

/// The settings of [communication] that the job sets, also those that it sets to the default. Settings that
/// it does not set are left to the environment.
LinkSettings links_of(const Loaded& job);

/// The mistakes of a config whose values are allowed one by one but do not go together. Each message has its
/// location, its reason and a remedy. Mistakes that depend on the data or on the number of ranks are not
/// found here.
std::vector<std::string> check_together(const Loaded& loaded);

}  // namespace cohort::config
