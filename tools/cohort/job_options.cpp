#include "job_options.h"

#include "storage/local_file_system.h"
#include "storage/whole_file.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

constexpr std::uint64_t kLargestFile = 16u << 20;

}  // namespace

void JobOptions::add_to(CLI::App& app, File file) {
  file_option_ = file == File::kNamed
                     ? app.add_option("--job", file_, "The job: a TOML file")->type_name("FILE")
                     : app.add_option("file", file_, "The job: a TOML file");
  if (file == File::kRequired) file_option_->required();
  add_overrides_to(app);
}

void JobOptions::add_overrides_to(CLI::App& app) {
  app.add_option("--set", overrides_, "Set a key, as in --set launch.ranks=4; wins over the file")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
}

void JobOptions::add_option_of(CLI::App& app, const KeyOption& option) {
  const auto set = [this, key = option.key](const std::string& value) {
    settings_.push_back(fmt::format("{}={}", key, value));
  };
  CLI::Option* const added = app.add_option_function<std::string>(option.name, set, option.help);
  added->type_name(option.type);
  const config::Key* const key = config::find_key(keys_, option.key);
  if (!key->choices.empty()) added->check(CLI::IsMember(key->choices));
  key_options_.push_back(option);
}

Result<config::Loaded> JobOptions::load() const {
  std::error_code unknown;
  config::Sources sources{.text = {},
                          .file_name = file_,
                          .overrides = overrides(),
                          .working_directory = std::filesystem::current_path(unknown).string()};
  if (file_option_->count() > 0) {
    if (file_.empty()) {
      return Error(ErrorCode::kUsage, "the name of the file is empty").with_remedy("Name a TOML file.");
    }
    LocalFileSystem files;
    auto text =
        read_file(files, std::filesystem::absolute(file_, unknown).lexically_normal().string(), kLargestFile);
    if (!text) {
      return Error(ErrorCode::kUsage, text.error().text()).with_remedy("Name a TOML file that can be read.");
    }
    sources.text = std::move(*text);
  }
  return config::load(keys_, sources);
}

std::vector<std::string> JobOptions::overrides() const {
  std::vector<std::string> all = overrides_;
  all.insert(all.end(), settings_.begin(), settings_.end());
  return all;
}

std::vector<std::string> JobOptions::candidates(const std::string& option) const {
  for (const KeyOption& known : key_options_) {
    if (known.name == option) return config::find_key(keys_, known.key)->choices;
  }
  if (option != "--set") return {};
  std::vector<std::string> words;
  for (const config::Key& key : keys_) {
    words.push_back(key.name + "=");
    for (const std::string& value : key.choices) words.push_back(fmt::format("{}={}", key.name, value));
  }
  return words;
}

}  // namespace cohort::tool
