#include "config/data_kinds.h"
#include "config/load.h"
#include "update/momentum.h"
#include "update/optimizer.h"
#include "update/settings.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
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
  if (data_kind(data.kind).is_in_files && data.path.empty()) {
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
  const DataContent content = data_kind(data).content;
  const bool has_tokens = content == DataContent::kTokens;
  const bool has_classes = content == DataContent::kImages || content == DataContent::kPoints;
  const bool takes_images = is_one_of(model, {"lenet", "resnet18"});
  if (has_tokens && model != "gpt") {
    clash("tokens require model.kind = \"gpt\"");
  } else if (!has_tokens && model == "gpt") {
    clash("it requires tokens: data.kind = " + quoted_kinds(DataContent::kTokens));
  } else if (takes_images && content != DataContent::kImages) {
    clash("it requires images: data.kind = " + quoted_kinds(DataContent::kImages));
  } else if (content == DataContent::kFunction && is_one_of(model, {"logistic", "softmax"})) {
    clash("regression requires model.kind = \"linear\" or \"mlp\"");
  } else if (has_classes && model == "linear") {
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
  if (optimizer.name == "gauss-newton" && checker.config().model.kind == "gpt") {
    checker.add({"optimizer.name", "model.kind"},
                "optimizer.name = \"gauss-newton\" requires second derivatives, and the attention of "
                "model.kind = \"gpt\" has none: take \"lbfgs\"");
  }
}

void check_muon(Checker& checker) {
  const OptimizerConfig& optimizer = checker.config().optimizer;
  if (optimizer.name != "muon") return;
  if (const std::size_t count = optimizer.ns_coefficients.size(); count != 0 && count != 3) {
    checker.add({"optimizer.ns_coefficients"},
                fmt::format("optimizer.ns_coefficients has {} numbers, expected 3", count));
  }
  if (optimizer.fallback_learning_rate && optimizer.learning_rate == 0.0) {
    checker.add(
        {"optimizer.fallback_learning_rate", "optimizer.learning_rate"},
        "optimizer.fallback_learning_rate is set, but optimizer.learning_rate is 0: there is no curve "
        "to follow");
  }
}

OptimizerSettings settings_of_optimizer(const Checker& checker) {
  OptimizerSettings optimizer = checker.config().optimizer;
  optimizer.kind = optimizer_named(checker.config().optimizer.name).value_or(optimizer.kind);
  return optimizer;
}

// Schedules that end lower than they begin must not end higher.
void check_end_of_schedule(Checker& checker) {
  const ScheduleConfig& schedule = checker.config().schedule;
  const double learning_rate = learning_rate_of(settings_of_optimizer(checker));
  const bool has_end = is_one_of(schedule.name, {"polynomial", "cosine", "cosine-restarts", "wsd"});
  if (has_end && schedule.eta_min > learning_rate) {
    checker.add(
        {"schedule.eta_min", "optimizer.learning_rate"},
        fmt::format("schedule.eta_min = {} is above optimizer.learning_rate = {}; schedule.name = \"{}\" "
                    "goes down",
                    schedule.eta_min, learning_rate, schedule.name));
  }
  if (schedule.name == "plateau" && schedule.min_lr > learning_rate) {
    checker.add({"schedule.min_lr", "optimizer.learning_rate"},
                fmt::format("schedule.min_lr = {} is above optimizer.learning_rate = {}; plateau goes down",
                            schedule.min_lr, learning_rate));
  }
  if (schedule.decay_steps > schedule.total_steps && schedule.total_steps > 0 && schedule.name == "wsd") {
    checker.add(
        {"schedule.decay_steps", "schedule.total_steps"},
        fmt::format("schedule.decay_steps = {} is above schedule.total_steps = {}, of which it is a part",
                    schedule.decay_steps, schedule.total_steps));
  }
}

void check_cycle(Checker& checker) {
  const ScheduleConfig& schedule = checker.config().schedule;
  if (schedule.name != "one-cycle") return;
  if (schedule.three_phase && schedule.pct_start > 0.5) {
    checker.add(
        {"schedule.pct_start"},
        fmt::format("schedule.pct_start = {} is above 0.5, and schedule.three_phase = true goes up and "
                    "down in twice that part of the steps",
                    schedule.pct_start));
  }
  if (!schedule.cycle_momentum) return;
  if (schedule.base_momentum > schedule.max_momentum) {
    checker.add({"schedule.base_momentum", "schedule.max_momentum"},
                fmt::format("schedule.base_momentum = {} is above schedule.max_momentum = {}",
                            schedule.base_momentum, schedule.max_momentum));
  }
  if (!has_momentum(settings_of_optimizer(checker))) {
    checker.add(
        {"schedule.cycle_momentum", "schedule.name"},
        fmt::format("schedule.cycle_momentum = true requires an optimizer with a momentum, or betas, that "
                    "may change, and optimizer.name = \"{}\" has none with these settings: set "
                    "schedule.cycle_momentum to false",
                    checker.config().optimizer.name));
  }
}

void check_plateau(Checker& checker) {
  const ScheduleConfig& schedule = checker.config().schedule;
  if (schedule.name != "plateau") return;
  if (schedule.threshold_mode == "rel" && schedule.threshold > 1) {
    checker.add(
        {"schedule.threshold"},
        fmt::format("schedule.threshold = {} is above 1, and with schedule.threshold_mode = \"rel\" it "
                    "is a part of the best loss",
                    schedule.threshold));
  }
  if (schedule.metric == "evaluation" && checker.config().train.evaluate_every == 0) {
    checker.add(
        {"schedule.name"},
        "schedule.name = \"plateau\" watches evaluations, and train.evaluate_every = 0 evaluates only "
        "at the end: set it to 1 or more, or schedule.metric to \"training\"");
  }
}

void check_schedule(Checker& checker) {
  const ScheduleConfig& schedule = checker.config().schedule;
  check_end_of_schedule(checker);
  check_cycle(checker);
  check_plateau(checker);
  const std::vector<int>& milestones = schedule.milestones;
  if (std::adjacent_find(milestones.begin(), milestones.end(), std::greater_equal<>()) != milestones.end()) {
    checker.add({"schedule.milestones"},
                fmt::format("schedule.milestones = [{}] must increase", fmt::join(milestones, ", ")));
  }
  if (schedule.scale_with_batch != "none" && schedule.base_batch_size == 0) {
    checker.add({"schedule.scale_with_batch"},
                fmt::format("schedule.scale_with_batch = \"{}\" requires schedule.base_batch_size: the batch "
                            "size that optimizer.learning_rate is right for",
                            schedule.scale_with_batch));
  }
}

void check_rank_factors(Checker& checker) {
  const TrainConfig& train = checker.config().train;
  if (train.rank_factors.empty()) return;
  if (std::all_of(train.rank_factors.begin(), train.rank_factors.end(), [](double f) { return f == 0; })) {
    checker.add({"train.rank_factors"}, "train.rank_factors has no number above 0");
  }
  if (train.deterministic == "any-world") {
    checker.add({"train.rank_factors"},
                "train.rank_factors depends on the number of ranks, and train.deterministic = \"any-world\" "
                "does not: leave one out");
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

void check_post_steps(Checker& checker) {
  const Config& config = checker.config();
  if (config.mask.sparsity > 0 && !config.mask.file.empty()) {
    checker.add({"mask.sparsity", "mask.file"},
                "mask.sparsity and mask.file are both set: leave one of them out");
  }
  if (config.train.steps && config.average.start > *config.train.steps) {
    checker.add({"average.start", "train.steps"},
                fmt::format("average.start = {} is above train.steps = {}, so that there would be no average",
                            config.average.start, *config.train.steps));
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
  for (const auto check :
       {check_source, check_model_for_data, check_model, check_optimizer, check_muon, check_schedule,
        check_precision, check_post_steps, check_rank_factors, check_loop}) {
    check(checker);
  }
  return checker.take();
}

}  // namespace cohort::config
