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

/// An option of its own for a key.
struct KeyOption {
  std::string name;  ///< `--engine`
  std::string key;
  std::string type;
  std::string help;
};

/// The options of every command that takes a job: its TOML file and `--set key=value`.
///
/// Lifetime: must stay where it is between add_to() and load().
class JobOptions {
 public:
  enum class File { kRequired, kOptional, kNamed };  ///< the last as `--job FILE`

  void add_to(CLI::App& app, File file);

  /// Adds an option that says the same as `--set` of its key, and wins over that.
  void add_option_of(CLI::App& app, const KeyOption& option);

  /// Reads the file, applies the overrides, checks everything.
  Result<config::Loaded> load() const;

  const std::string& file() const { return file_; }
  /// Everything that was set, in the order in which it counts.
  std::vector<std::string> overrides() const;
  const std::vector<config::Key>& keys() const { return keys_; }
  /// Completions of `--set`: every key followed by `=`; of an option of a key: what that takes.
  std::vector<std::string> candidates(const std::string& option) const;

 private:
  const std::vector<config::Key> keys_ = config::make_keys();
  CLI::Option* file_option_ = nullptr;
  std::string file_;
  std::vector<std::string> overrides_;
  std::vector<KeyOption> key_options_;
  std::vector<std::string> settings_;  // by options of keys
};

}  // namespace cohort::tool
