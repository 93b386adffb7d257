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
  std::string file_name;  ///< for messages, and for paths in the text, which are relative to its folder
  std::vector<std::string>
      overrides;  ///< `launch.ranks=2`; they win over the text, and later ones over earlier ones
  std::string working_directory{};  ///< absolute; if it is empty, paths stay relative to it
};

/// A config of defaults.
Config default_config(std::span<const Key> keys);

/// Parses a job and checks each value, then all values together (check_together(), check_effect()). A
/// train.directory that is not set becomes runs/<name of the file>; paths of files that the job reads become
/// absolute (input_path()).
///
/// Failure: kUsage; the message lists all mistakes in the order of the file, each with its location and the
/// allowed values.
Result<Loaded> load(std::span<const Key> keys, const Sources& sources);

/// The settings of [communication] that the job sets, also those that it sets to the default, and for the
/// others those of `around`. A setting that the job sets to auto is not set in the result.
LinkSettings links_of(const Loaded& job, const LinkSettings& around);

/// The mistakes of a config whose values are allowed one by one but do not go together. Each message has its
/// location, its reason and a remedy. Mistakes that depend on the data or on the number of ranks are not
/// found here.
std::vector<std::string> check_together(const Loaded& loaded);

/// The keys of [data] that are set to another value than their default and have no effect on data of this
/// kind.
std::vector<std::string> check_effect(std::span<const Key> keys, const Loaded& loaded);

/// All mistakes of a job as one error.
Error all_mistakes(std::vector<std::string> mistakes);

}  // namespace cohort::config
