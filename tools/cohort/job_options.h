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

/// The options of every command that takes a job: its TOML file and `--set key=value`.
///
/// Lifetime: must stay where it is between add_to() and load().
class JobOptions {
 public:
  enum class File { kRequired, kOptional, kNamed };  ///< the last as `--job FILE`

  void add_to(CLI::App& app, File file);

  /// Reads the file, applies the overrides, checks everything.
  Result<config::Loaded> load() const;

  const std::string& file() const { return file_; }
  const std::vector<std::string>& overrides() const { return overrides_; }
  const std::vector<config::Key>& keys() const { return keys_; }
  /// Completions of `--set`: every key followed by `=`.
  std::vector<std::string> candidates(const std::string& option) const;

 private:
  const std::vector<config::Key> keys_ = config::make_keys();
  CLI::Option* file_option_ = nullptr;
  std::string file_;
  std::vector<std::string> overrides_;
};

}  // namespace cohort::tool
