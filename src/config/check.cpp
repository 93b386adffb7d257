#include "config/check.h"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <string_view>

namespace cohort::config {
namespace {

// Collects mistakes about keys of one config.
class Checker {
 public:
  explicit Checker(const Loaded& loaded) : loaded_(loaded) {}

  const Config& config() const { return loaded_.config; }
  /// `keys` are what the mistake is about: it is told at the first of them that somebody has set.
  void add(std::initializer_list<std::string_view> keys, const std::string& mistake) {
    mistakes_.push_back(fmt::format("{}: {}", place_of(keys), mistake));
  }
  std::vector<std::string> take() { return std::move(mistakes_); }

 private:
  std::string place_of(std::initializer_list<std::string_view> keys) const {
    for (const std::string_view key : keys) {
      const auto found = loaded_.places.find(std::string(key));
      if (found != loaded_.places.end()) return found->second;
    }
    return "by default";
  }

  const Loaded& loaded_;
  std::vector<std::string> mistakes_;
};

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

void check_source(Checker& checker) {
  const DataConfig& data = checker.config().data;
  if (is_one_of(data.kind, {"idx", "csv", "text"}) && data.path.empty()) {
    checker.add({"data.kind"},
                fmt::format("data.kind = \"{}\" wants data.path: name the file or folder", data.kind));
  }
  if (data.kind == "digits" && data.classes > 10) {
    checker.add(
        {"data.classes"},
        fmt::format("data.classes = {} is more than the ten that data.kind = \"digits\" has", data.classes));
  }
}

// Which models can take what the data gives, as far as its kind tells.
void check_model_for_data(Checker& checker) {
  const std::string& data = checker.config().data.kind;
  const std::string& model = checker.config().model.kind;
  const auto clash = [&](std::string_view what_to_do) {
    checker.add({"model.kind", "data.kind"}, fmt::format("model.kind = \"{}\" cannot learn from data.kind = "
                                                         "\"{}\"; {}",
                                                         model, data, what_to_do));
  };
  const bool tokens = is_one_of(data, {"text", "markov"});
  if (tokens && model != "gpt") {
    clash("tokens want model.kind = \"gpt\"");
  } else if (!tokens && model == "gpt") {
    clash("it wants tokens: data.kind = \"text\" or \"markov\"");
  } else if (is_one_of(model, {"lenet", "resnet18"}) && !is_one_of(data, {"idx", "digits"})) {
    clash("it wants images: data.kind = \"idx\" or \"digits\"");
  } else if (data == "regression" && is_one_of(model, {"logistic", "softmax"})) {
    clash("numbers are predicted by \"linear\" or \"mlp\"");
  } else if (is_one_of(data, {"idx", "digits", "spirals"}) && model == "linear") {
    clash("classes are predicted by \"softmax\", \"mlp\" or, where there are two, \"logistic\"");
  }
}

void check_model(Checker& checker) {
  const Config& config = checker.config();
  const ModelConfig& model = config.model;
  if (model.kind == "gpt" && model.width % model.heads != 0) {
    checker.add({"model.heads", "model.width"},
                fmt::format("model.heads = {} do not divide model.width = {}", model.heads, model.width));
  }
  const bool has_classes = is_one_of(config.data.kind, {"digits", "spirals"});
  if (model.kind == "logistic" && has_classes && config.data.classes != 2) {
    checker.add({"model.kind", "data.classes"},
                fmt::format("model.kind = \"logistic\" tells two classes apart, and data.classes = {}; set "
                            "data.classes = 2 or model.kind = \"softmax\"",
                            config.data.classes));
  }
}

void check_update(Checker& checker) {
  const UpdateConfig& update = checker.config().update;
  if (is_one_of(update.schedule, {"step", "exponential"}) && update.schedule_steps == 0) {
    checker.add({"update.schedule"},
                fmt::format("update.schedule = \"{}\" wants update.schedule_steps: after how many steps the "
                            "learning rate is multiplied by {}",
                            update.schedule, update.schedule_factor));
  }
  if (update.schedule == "cosine" && update.final_learning_rate > update.learning_rate) {
    checker.add({"update.final_learning_rate", "update.learning_rate"},
                fmt::format("update.final_learning_rate = {} is above update.learning_rate = {}",
                            update.final_learning_rate, update.learning_rate));
  }
}

void check_loop(Checker& checker) {
  const TrainConfig& train = checker.config().train;
  if (train.deterministic == "any-world" && train.slots == 0) {
    checker.add({"train.deterministic"},
                "train.deterministic = \"any-world\" wants train.slots, for the cut of a batch must not "
                "depend on the number of ranks: set it to a multiple of all numbers of ranks in question, "
                "such as 8");
  }
  if (train.patience > 0 && train.evaluate_every == 0) {
    checker.add({"train.patience"},
                "train.patience counts evaluations, and train.evaluate_every = 0 makes "
                "none before the end");
  }
}

}  // namespace

std::vector<std::string> check_together(const Loaded& loaded) {
  Checker checker(loaded);
  for (const auto check : {check_source, check_model_for_data, check_model, check_update, check_loop}) {
    check(checker);
  }
  return checker.take();
}

}  // namespace cohort::config
