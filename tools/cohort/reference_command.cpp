#include "command_line.h"
#include "commands.h"
#include "config_reference.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::tool {
namespace {

std::string exit_code_page() {
  std::string page =
      "# Exit codes\n\nWritten by `cohort reference exit-codes`. A process that a signal ends has, as "
      "everywhere, 128 plus the\n"
      "number of the signal in its shell.\n\n| code | name | meaning |\n|---|---|---|\n";
  for (const ExitCodeRow& row : exit_codes()) {
    page += fmt::format("| {} | {} | {} |\n", static_cast<int>(row.code), row.name, row.meaning);
  }
  return fmt::format("{}\n{}\n", page, passed_on_exit_codes());
}

std::string option_name(const CLI::Option* option) {
  const std::string value = option->get_items_expected_max() > 0 && !option->get_type_name().empty()
                                ? " " + option->get_type_name()
                                : "";
  return option->get_positional() ? option->get_name(true) : option->get_name(false, true) + value;
}

void append_command(std::string& page, const CLI::App* app) {
  if (visible_subcommands(app).empty()) {
    page += fmt::format("\n## {}\n\n{}.\n\n| option | what it does |\n|---|---|\n", full_name(app),
                        app->get_description());
    for (const CLI::Option* option : app->get_options()) {
      page += fmt::format("| `{}` | {} |\n", option_name(option), option->get_description());
    }
  }
  for (const CLI::App* child : visible_subcommands(app)) append_command(page, child);
}

std::string command_page() {
  std::string page =
      "# Commands\n\nWritten by `cohort reference commands`. Every command and every group answers "
      "`--help`.\n";
  append_command(page, &CommandLine().app());
  return page;
}

std::vector<std::string> reference_page_names() {
  return {"config", "commands", "exit-codes"};
}

Result<std::string> reference_page(const std::string& name) {
  if (name == "config") return config_page(config::make_keys());
  if (name == "commands") return command_page();
  if (name == "exit-codes") return exit_code_page();
  return Error(ErrorCode::kUsage, fmt::format("there is no reference page '{}'", name))
      .with_remedy(fmt::format("The pages are {}.", fmt::join(reference_page_names(), ", ")));
}

/// `cohort reference PAGE`: prints a page of docs/reference/ from the same tables that the tool uses.
class ReferenceCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"reference"}; }
  std::string summary() const override {
    return "Print a reference page as Markdown: config, commands or exit-codes";
  }
  void add_options(CLI::App& app) override {
    app.add_option("page", page_, "config, commands or exit-codes")->required();
  }
  std::vector<std::string> candidates(const std::string& option) const override {
    return option.empty() ? reference_page_names() : std::vector<std::string>{};
  }

  Result<ExitCode> run(Session& session) override {
    COHORT_ASSIGN_OR_RETURN(const std::string page, reference_page(page_));
    session.out << page;
    return ExitCode::kDone;
  }

 private:
  std::string page_;
};

}  // namespace

std::unique_ptr<Command> make_reference_command() {
  return std::make_unique<ReferenceCommand>();
}

}  // namespace cohort::tool
