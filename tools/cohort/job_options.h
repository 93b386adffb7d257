#pragma once

#include "config/keys.h"
#include "config/load.h"

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cohort::tool {

/// A command line option for a key of the job file.
struct KeyOption {
  std::string name;  ///< `--backend`
  std::string key;
  std::string type;
  std::string help;
};

/// The options of every command that takes a job: its TOML file and `--set key=value`.
///
/// Lifetime: must not move between add_to() and load().
class JobOptions {
 public:
  enum class File { kRequired, kOptional, kNamed };  ///< kNamed: `--job FILE`

  void add_to(CLI::App& app, File file);
  /// Adds `--set` alone, for a command that takes the settings of a job and no job file of its own.
  void add_overrides_to(CLI::App& app);

  /// Adds an option that sets a key, like `--set`, and overrides `--set` of that key.
  void add_option_of(CLI::App& app, const KeyOption& option);

  /// Reads the file, applies the overrides and checks all values.
  Result<config::Loaded> load() const;

  const std::string& file() const { return file_; }
  /// All settings of the command line in the order in which they are applied.
  std::vector<std::string> overrides() const;
  const std::vector<config::Key>& keys() const { return keys_; }
  /// Completions of `--set`: every key followed by `=`; of an option for a key: the key's values.
  std::vector<std::string> candidates(const std::string& option) const;

 private:
  const std::vector<config::Key> keys_ = config::make_keys();
  CLI::Option* file_option_ = nullptr;
  std::string file_;
  std::vector<std::string> overrides_;
  std::vector<KeyOption> key_options_;
  std::vector<std::string> settings_;  // from options for keys
};

}  // namespace cohort::tool
