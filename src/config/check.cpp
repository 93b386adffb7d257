#include "config/load.h"
#include "update/optimizer.h"
#include "update/settings.h"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <string_view>

namespace cohort::config {
namespace {

// Collects the mistakes of one config.
class Checker {
 public:
  explicit Checker(const Loaded& loaded) : loaded_(loaded) {}

  const Config& config() const { return loaded_.config; }
  /// `keys` are the keys of the mistake. The message begins with the location of the first of them that is
  /// set.
  void add(std::initializer_list<std::string_view> keys, const std::string& mistake) {
    mistakes_.push_back(fmt::format("{}: {}", location_of(keys), mistake));
  }
  std::vector<std::string> take() { return std::move(mistakes_); }

 private:
  std::string location_of(std::initializer_list<std::string_view> keys) const {
    for (const std::string_view key : keys) {
      const auto found = loaded_.locations.find(std::string(key));
      if (found != loaded_.locations.end()) return found->second;
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
                fmt::format("data.kind = \"{}\" requires data.path: name the file or folder", data.kind));
  }
  if (data.kind == "digits" && data.classes > 10) {
    checker.add({"data.classes"},
                fmt::format("data.classes = {} is above 10, the number of classes of data.kind = \"digits\"",
                            data.classes));
  }
}

// Whether the model can be trained on data of this kind.
void check_model_for_data(Checker& checker) {
  const std::string& data = checker.config().data.kind;
  const std::string& model = checker.config().model.kind;
  const auto clash = [&](std::string_view remedy) {
    checker.add({"model.kind", "data.kind"}, fmt::format("model.kind = \"{}\" cannot learn from data.kind = "
                                                         "\"{}\"; {}",
                                                         model, data, remedy));
  };
  const bool tokens = is_one_of(data, {"text", "markov"});
  if (tokens && model != "gpt") {
    clash("tokens require model.kind = \"gpt\"");
  } else if (!tokens && model == "gpt") {
    clash("it requires tokens: data.kind = \"text\" or \"markov\"");
  } else if (is_one_of(model, {"lenet", "resnet18"}) && !is_one_of(data, {"idx", "digits"})) {
    clash("it requires images: data.kind = \"idx\" or \"digits\"");
  } else if (data == "regression" && is_one_of(model, {"logistic", "softmax"})) {
    clash("regression requires model.kind = \"linear\" or \"mlp\"");
  } else if (is_one_of(data, {"idx", "digits", "spirals"}) && model == "linear") {
    clash("classes require model.kind = \"softmax\", \"mlp\" or, if there are two, \"logistic\"");
  }
}

void check_model(Checker& checker) {
  const Config& config = checker.config();
  const ModelConfig& model = config.model;
  if (model.kind == "gpt" && model.width % model.heads != 0) {
    checker.add({"model.heads", "model.width"},
                fmt::format("model.heads = {} does not divide model.width = {}", model.heads, model.width));
  }
  const bool has_classes = is_one_of(config.data.kind, {"digits", "spirals"});
  if (model.kind == "logistic" && has_classes && config.data.classes != 2) {
    checker.add(
        {"model.kind", "data.classes"},
        fmt::format(
            "model.kind = \"logistic\" requires data.classes = 2, found {}; set that, or model.kind = "
            "\"softmax\"",
            config.data.classes));
  }
}

void check_optimizer(Checker& checker) {
  const OptimizerConfig& optimizer = checker.config().optimizer;
  const std::vector<std::string> users = users_of("nesterov");
  const bool is_used = std::find(users.begin(), users.end(), optimizer.name) != users.end();
  if (is_used && optimizer.nesterov.value_or(false) && optimizer.momentum == 0.0) {
    checker.add({"optimizer.nesterov", "optimizer.momentum"},
                "optimizer.nesterov = true requires optimizer.momentum above 0, and it is 0");
  }
}

void check_schedule(Checker& checker) {
  const ScheduleConfig& schedule = checker.config().schedule;
  if (is_one_of(schedule.name, {"step", "exponential"}) && schedule.step_size == 0) {
    checker.add({"schedule.name"},
                fmt::format("schedule.name = \"{}\" requires schedule.step_size: the number of steps after "
                            "which the learning rate is multiplied by {}",
                            schedule.name, schedule.gamma));
  }
  OptimizerSettings optimizer = checker.config().optimizer;
  optimizer.kind = optimizer_named(checker.config().optimizer.name).value_or(optimizer.kind);
  const double learning_rate = *with_defaults(optimizer).learning_rate;
  if (schedule.name == "cosine" && schedule.eta_min > learning_rate) {
    checker.add({"schedule.eta_min", "optimizer.learning_rate"},
                fmt::format("schedule.eta_min = {} is above optimizer.learning_rate = {}; a cosine goes down",
                            schedule.eta_min, learning_rate));
  }
}

void check_precision(Checker& checker) {
  const Config& config = checker.config();
  const PrecisionConfig& precision = config.precision;
  if (precision.parameters == DType::kBF16 && precision.compute == ComputeType::kF32) {
    checker.add({"precision.parameters"},
                "precision.parameters = \"bf16\" requires precision.compute = \"bf16\": products of bf16 "
                "parameters are computed in bf16");
  }
  if (precision.parameters == DType::kBF16 && precision.fallback_steps > 0) {
    checker.add({"precision.fallback_steps", "precision.parameters"},
                "precision.fallback_steps requires f32 parameters to compute with: leave it out, or "
                "precision.parameters = \"bf16\"");
  }
  if (precision.compute == ComputeType::kF32 && precision.fallback_steps > 0) {
    checker.add({"precision.fallback_steps"},
                "precision.fallback_steps has no effect with precision.compute = \"f32\": leave it out");
  }
  if (config.train.deterministic == "any-world" && config.communication.wire != WireDType::kSame) {
    checker.add(
        {"precision.gradients", "train.deterministic"},
        "precision.gradients other than \"f32\" is not for train.deterministic = \"any-world\", whose "
        "sums must not depend on the hosts of ranks: leave one out");
  }
}

void check_loop(Checker& checker) {
  const TrainConfig& train = checker.config().train;
  if (train.deterministic == "any-world" && train.micro_batches == 0) {
    checker.add(
        {"train.deterministic"},
        "train.deterministic = \"any-world\" requires train.micro_batches, since the cut of a batch must "
        "not depend on the number of ranks: set it to a multiple of every number of ranks in "
        "question, such as 8");
  }
  if (train.patience > 0 && train.evaluate_every == 0) {
    checker.add(
        {"train.patience"},
        "train.patience counts evaluations, and train.evaluate_every = 0 evaluates only at the end: set it "
        "to 1 or more");
  }
}

}  // namespace

std::vector<std::string> check_together(const Loaded& loaded) {
  Checker checker(loaded);
  for (const auto check : {check_source, check_model_for_data, check_model, check_optimizer, check_schedule,
                           check_precision, check_loop}) {
    check(checker);
  }
  return checker.take();
}

}  // namespace cohort::config
