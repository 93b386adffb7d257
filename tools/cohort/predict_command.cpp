#include "become_trainer.h"
#include "commands.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <optional>

namespace cohort::tool {
namespace {

/// `cohort predict MODEL INPUT`: the predictions of a trained model, computed by the trainer program.
class PredictCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"predict"}; }
  std::string summary() const override {
    return "Print what a trained model predicts for rows, images or a prompt";
  }

  void add_options(CLI::App& app) override {
    app.add_option("model", model_, "The model: a safetensors file of `cohort train`")->required();
    app.add_option("input", input_, "A file (CSV, IDX, PGM, PPM), or the prompt of a model of text")
        ->required();
    app.add_option("--index", index_, "Only this sample of the file, counted from 0")->type_name("N");
    app.add_option("--tokens", tokens_, "How many tokens follow the prompt; 100 by default")->type_name("N");
    app.add_option("--temperature", temperature_,
                   "Divides the logits; 1 by default, 0: always the most probable token")
        ->type_name("T");
    app.add_option("--top-k", top_k_, "Draw from the K most probable tokens only")->type_name("K");
    app.add_option("--seed", seed_, "The same seed draws the same text; 1 by default")->type_name("N");
    app.add_flag("--json", json_, "One JSON object, with the probabilities of all classes");
  }

  Result<ExitCode> run(Session& session) override {
    std::vector<std::string> arguments;
    add_option_words(arguments, "--predict", model_);
    add_option_words(arguments, "--input", input_);
    const auto add = [&](const char* option, const auto& value) {
      if (value) arguments.push_back(fmt::format("{}={}", option, *value));
    };
    add("--index", index_);
    add("--tokens", tokens_);
    add("--temperature", temperature_);
    add("--top-k", top_k_);
    add("--seed", seed_);
    if (json_) arguments.emplace_back("--json");
    return become_trainer(session, arguments);
  }

 private:
  std::string model_;
  std::string input_;
  std::optional<std::int64_t> index_;
  std::optional<std::int64_t> tokens_;
  std::optional<double> temperature_;
  std::optional<std::int64_t> top_k_;
  std::optional<std::uint64_t> seed_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_predict_command() {
  return std::make_unique<PredictCommand>();
}

}  // namespace cohort::tool
