#include "command_line.h"

#include "base/nearest.h"
#include "config/keys.h"

#include <algorithm>
#include <cohort/version.h>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

constexpr const char* kHiddenGroup = "";

std::string exit_code_footer() {
  std::string text = "Exit codes:\n";
  for (const ExitCodeRow& row : exit_codes()) {
    text += fmt::format("  {:<27} {}\n", static_cast<int>(row.code), row.meaning);
  }
  return text;
}

std::string group_summary(const std::string& word) {
  if (word == "bench") return "Measure this host";
  if (word == "checkpoint")
    return "List, show, verify, compare, convert and prune the snapshots of a training";
  if (word == "config") return "Explain, check and show the configuration of a job";
  return {};
}

std::vector<std::string> names_below(const CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::App* child : visible_subcommands(app)) names.push_back(child->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

}  // namespace

std::string full_name(const CLI::App* app) {
  return app->get_parent() == nullptr ? app->get_name()
                                      : full_name(app->get_parent()) + " " + app->get_name();
}

std::vector<const CLI::App*> visible_subcommands(const CLI::App* app) {
  return app->get_subcommands([](const CLI::App* child) { return child->get_group() != kHiddenGroup; });
}

CommandLine::CommandLine() : commands_(make_commands()), app_(std::make_unique<CLI::App>()) {
  app_->name("cohort");
  app_->description("Distributed training for libtorch.");
  app_->set_help_flag("-h,--help", "Print this help and stop");
  app_->set_version_flag("--version", std::string(version()), "Print the version and stop");
  app_->require_subcommand(1);
  app_->footer(exit_code_footer());
  for (const auto& command : commands_) {
    CLI::App* node_app = node(command->words(), command->summary());
    command->add_options(*node_app);
    nodes_.emplace_back(node_app, command.get());
  }
}

CLI::App* CommandLine::node(const std::vector<std::string>& words, const std::string& summary) {
  CLI::App* node_app = app_.get();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool last = i + 1 == words.size();
    const auto existing =
        node_app->get_subcommands([&](const CLI::App* child) { return child->get_name() == words[i]; });
    if (!existing.empty()) {
      node_app = const_cast<CLI::App*>(existing.front());
      continue;
    }
    node_app = node_app->add_subcommand(words[i], last ? summary : group_summary(words[i]));
    node_app->footer("");
    if (last && summary.empty()) node_app->group(kHiddenGroup);
    if (!last) node_app->require_subcommand(1);
  }
  return node_app;
}

const CLI::App* CommandLine::chosen() const {
  const CLI::App* app = app_.get();
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return app;
}

const Command* CommandLine::command_of(const CLI::App* app) const {
  for (const auto& [node_app, command] : nodes_) {
    if (node_app == app) return command;
  }
  return nullptr;
}

Error CommandLine::explained(const CLI::ParseError& failure) const {
  const CLI::App* app = chosen();
  const std::string name = full_name(app);
  const auto strays = app_->remaining(true);
  std::string message = failure.what();
  std::string hint = fmt::format("Run `{} --help` for its options.", name);
  const bool wants_word = !visible_subcommands(app).empty();
  if (!strays.empty()) {
    const bool is_option = strays.front().rfind('-', 0) == 0;
    message = is_option    ? fmt::format("`{}` has no option {}", name, strays.front())
              : wants_word ? fmt::format("`{}` has no command '{}'", name, strays.front())
                           : fmt::format("`{}` does not take '{}'", name, strays.front());
    const std::string word = strays.front().substr(0, strays.front().find('='));
    const auto known = is_option ? option_names(app) : names_below(app);
    if (const auto renamed = config::find_renamed(word)) {
      message += fmt::format("; {}", renamed->remedy);
    } else if (const auto meant = nearest(word, known)) {
      hint = fmt::format("Did you mean {}? {}", *meant, hint);
    }
  } else if (wants_word) {
    message = fmt::format("`{}` needs a command: {}", name, fmt::join(names_below(app), ", "));
  }
  return Error(ErrorCode::kUsage, message).with_remedy(hint);
}

std::size_t CommandLine::count_own(const std::vector<std::string>& arguments) const {
  const auto runs_program = [&](const auto& node) {
    return node.second->program_words() != nullptr && !arguments.empty() &&
           node.first->get_name() == arguments.front();
  };
  const auto found = std::find_if(nodes_.begin(), nodes_.end(), runs_program);
  if (found == nodes_.end()) return arguments.size();
  std::size_t next = 1;
  while (next < arguments.size()) {
    const std::string& word = arguments[next];
    if (word == "--") return next + 1;
    if (word.size() < 2 || word.front() != '-') return next;
    const CLI::Option* option = found->first->get_option_no_throw(word);
    next += option != nullptr && option->get_items_expected_max() > 0 ? 2 : 1;
  }
  return arguments.size();
}

Result<Command*> CommandLine::parse(std::vector<std::string> arguments, std::string& help) {
  const auto own = arguments.begin() + static_cast<std::ptrdiff_t>(count_own(arguments));
  const std::vector<std::string> program(own, arguments.end());
  arguments.erase(own, arguments.end());
  std::reverse(arguments.begin(), arguments.end());
  try {
    app_->parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    const CLI::App* parent = chosen()->get_parent();
    help = chosen()->help(parent == nullptr ? "" : full_name(parent));
    return nullptr;
  } catch (const CLI::CallForVersion& version_text) {
    help = std::string(version_text.what()) + '\n';
    return nullptr;
  } catch (const CLI::ParseError& failure) {
    return explained(failure);
  }
  auto* command = const_cast<Command*>(command_of(chosen()));
  if (auto* words = command->program_words()) *words = program;
  return command;
}

}  // namespace cohort::tool
