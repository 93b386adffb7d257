#include "check_files.h"
#include "commands.h"
#include "config_reference.h"
#include "job_options.h"
#include "observe/json_text.h"
#include "observe/table.h"
#include "storage/local_file_system.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

using observe::json_text;
using observe::Table;

using config::Key;
using Json = nlohmann::ordered_json;

Json to_json(const Key& key) {
  return {{"key", key.name},
          {"type", key.type},
          {"allowed", key.allowed},
          {"default", key.fallback},
          {"help", key.help}};
}

/// `cohort config explain [KEY]`: prints the table of keys.
class ConfigExplainCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"config", "explain"}; }
  std::string summary() const override { return "Explain a key, the keys of a section, or all keys"; }
  void add_options(CLI::App& app) override {
    app.add_option("key", name_,
                   "A key such as launch.ranks, or a section such as launch; all keys if left out");
    app.add_flag("--json", json_, "One JSON object");
  }

  Result<ExitCode> run(Session& session) override {
    COHORT_ASSIGN_OR_RETURN(const std::vector<Key> rows, selected());
    if (json_) {
      Json list = Json::array();
      for (const Key& key : rows) list.push_back(to_json(key));
      session.out << json_text({{"keys", list}});
    } else if (rows.size() == 1 && rows.front().name == name_) {
      session.out << explain(rows.front());
    } else {
      Table table({"key", "default", "what it does"});
      for (const Key& key : rows) {
        table.add({{key.name, Colour::kBold}, {key.fallback.empty() ? "-" : key.fallback}, {key.help}});
      }
      session.out << table.text(session.screen())
                  << "\n`cohort config explain KEY` tells more about a key.\n";
    }
    return ExitCode::kDone;
  }

  std::vector<std::string> candidates(const std::string& option) const override {
    if (!option.empty()) return {};
    std::vector<std::string> words = config::section_names(keys_);
    for (const Key& key : keys_) words.push_back(key.name);
    return words;
  }

 private:
  Result<std::vector<Key>> selected() const {
    if (name_.empty()) return keys_;
    std::vector<Key> rows;
    for (const Key& key : keys_) {
      if (key.name == name_ || config::section_of(key.name) == name_) rows.push_back(key);
    }
    if (!rows.empty()) return rows;
    if (const auto renamed = config::find_renamed(name_)) {
      return Error(ErrorCode::kUsage, fmt::format("there is no key '{}'; {}", name_, renamed->remedy));
    }
    const auto meant = config::nearest_key(keys_, name_);
    return Error(ErrorCode::kUsage, fmt::format("there is no key '{}'", name_))
        .with_remedy(meant ? fmt::format("Did you mean '{}'?", *meant)
                           : "`cohort config explain` without a key lists all keys.");
  }

  const std::vector<Key> keys_ = config::make_keys();
  std::string name_;
  bool json_ = false;
};

/// `cohort config check FILE`: lists every mistake of a file, and of the files that it names.
class ConfigCheckCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"config", "check"}; }
  std::string summary() const override {
    return "Check a file, the data and weights that it names and its run directory, and list all mistakes";
  }
  void add_options(CLI::App& app) override { job_.add_to(app, JobOptions::File::kRequired); }
  std::vector<std::string> candidates(const std::string& option) const override {
    return job_.candidates(option);
  }

  Result<ExitCode> run(Session& session) override {
    COHORT_ASSIGN_OR_RETURN(const config::Loaded loaded, job_.load());
    LocalFileSystem files;
    const std::vector<std::string> mistakes = check_files(files, loaded, job_.file());
    if (!mistakes.empty()) return config::all_mistakes(mistakes);
    session.out << fmt::format("{} is fine: {} of {} keys set\n", job_.file(), loaded.locations.size(),
                               job_.keys().size());
    return ExitCode::kDone;
  }

 private:
  JobOptions job_;
};

/// `cohort config show [FILE]`: prints the values from defaults, file and --set, with the source of each.
class ConfigShowCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"config", "show"}; }
  std::string summary() const override { return "Print every value and its source: default, file or --set"; }
  void add_options(CLI::App& app) override {
    job_.add_to(app, JobOptions::File::kOptional);
    app.add_flag("--json", json_, "One JSON object");
  }
  std::vector<std::string> candidates(const std::string& option) const override {
    return job_.candidates(option);
  }

  Result<ExitCode> run(Session& session) override {
    COHORT_ASSIGN_OR_RETURN(const config::Loaded loaded, job_.load());
    Table table({"key", "value", "from"});
    Json object;
    for (const Key& key : job_.keys()) {
      const std::string value = key.show(loaded.config);
      const auto location = loaded.locations.find(key.name);
      const std::string from = location == loaded.locations.end() ? "default" : location->second;
      table.add({{key.name, Colour::kBold}, {value.empty() ? "-" : value}, {from}});
      object[key.name] = {{"value", value}, {"from", from}};
    }
    session.out << (json_ ? json_text(object) : table.text(session.screen()));
    return ExitCode::kDone;
  }

 private:
  JobOptions job_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_config_explain_command() {
  return std::make_unique<ConfigExplainCommand>();
}
std::unique_ptr<Command> make_config_check_command() {
  return std::make_unique<ConfigCheckCommand>();
}
std::unique_ptr<Command> make_config_show_command() {
  return std::make_unique<ConfigShowCommand>();
}

}  // namespace cohort::tool
