#include "commands.h"
#include "reference.h"

#include <CLI/CLI.hpp>

namespace cohort::tool {
namespace {

/// `cohort reference PAGE`: a page of docs/reference/, made from the same tables the tool works with.
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
