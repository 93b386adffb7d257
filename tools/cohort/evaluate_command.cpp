#include "become_trainer.h"
#include "commands.h"
#include "job_options.h"

#include <CLI/CLI.hpp>

namespace cohort::tool {
namespace {

/// `cohort evaluate MODEL --data FILE`: loss and accuracy of a trained model, computed by the trainer
/// program.
class EvaluateCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"evaluate"}; }
  std::string summary() const override { return "Print loss and accuracy of a trained model on a data set"; }
  std::vector<std::string> candidates(const std::string& option) const override {
    if (option == "--part") return {"test", "train"};
    return job_.candidates(option);
  }

  void add_options(CLI::App& app) override {
    app.add_option("model", model_, "The model: a safetensors file of `cohort train`")->required();
    app.add_option(
           "--data", data_,
           "The data: a job file (.toml), or a file or folder of the kind that the model was trained on")
        ->type_name("FILE")
        ->required();
    app.add_option("--part", part_, "The part of a job's data: test or train")
        ->type_name("PART")
        ->check(CLI::IsMember({"test", "train"}));
    job_.add_overrides_to(app);
    app.add_flag("--json", json_, "One JSON object instead of a table");
  }

  Result<ExitCode> run(Session& session) override {
    if (!part_.empty() && !data_.ends_with(".toml")) {
      return Error(ErrorCode::kUsage, "--part is for the data of a job, and --data names no .toml file")
          .with_remedy("Leave --part out: all samples of a file are used.");
    }
    std::vector<std::string> arguments;
    add_option_words(arguments, "--evaluate", model_);
    add_option_words(arguments, "--data", data_);
    if (!part_.empty()) arguments.insert(arguments.end(), {"--part", part_});
    for (const std::string& assignment : job_.overrides()) {
      arguments.insert(arguments.end(), {"--set", assignment});
    }
    if (json_) arguments.emplace_back("--json");
    if (session.out_columns) {
      arguments.insert(arguments.end(), {"--terminal", std::to_string(*session.out_columns)});
    }
    return become_trainer(session, arguments);
  }

 private:
  JobOptions job_;
  std::string model_;
  std::string data_;
  std::string part_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_evaluate_command() {
  return std::make_unique<EvaluateCommand>();
}

}  // namespace cohort::tool
