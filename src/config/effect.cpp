#include "config/data_kinds.h"
#include "config/keys.h"
#include "config/load.h"
#include "solve/settings_table.h"
#include "update/settings.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::config {
namespace {

// The values of another key with which a key has an effect. Keys that are not listed have an effect with all
// values.
struct Effect {
  std::string_view key;
  std::vector<std::string_view> values;
};

std::vector<Effect> effects_of_data_kind() {
  const auto files = file_kinds();
  const auto generators = data_kinds_where([](const DataKind& kind) { return !kind.is_in_files; });
  const auto not_tokens = data_kinds_where([](const DataKind& kind) {
    return kind.content != DataContent::kTokens && (kind.is_in_files || kind.content == DataContent::kImages);
  });
  return {{"data.path", files},
          {"data.test_path", files},
          {"data.tokens", {"text"}},
          {"data.target_column", {"csv"}},
          {"data.target", {"csv"}},
          {"data.samples", generators},
          {"data.test_samples", generators},
          {"data.test_share", files},
          {"data.split", files},
          {"data.classes", {"digits", "spirals", "markov"}},
          {"data.features", {"regression"}},
          {"data.image_size", {"digits"}},
          {"data.noise", {"digits", "spirals", "regression"}},
          {"data.context", {"text", "markov"}},
          {"data.stride", {"text"}},
          {"data.normalize", not_tokens}};
}

std::vector<Effect> effects_of_schedule_name() {
  std::vector<Effect> effects = {{"schedule.step_size", {"step", "exponential"}},
                                 {"schedule.milestones", {"multi-step"}},
                                 {"schedule.gamma", {"step", "multi-step", "exponential"}},
                                 {"schedule.timescale", {"inverse-sqrt"}},
                                 {"schedule.total_steps", {"polynomial", "one-cycle", "wsd"}},
                                 {"schedule.power", {"polynomial"}},
                                 {"schedule.t_max", {"cosine"}},
                                 {"schedule.t_0", {"cosine-restarts"}},
                                 {"schedule.t_mult", {"cosine-restarts"}},
                                 {"schedule.eta_min", {"polynomial", "cosine", "cosine-restarts", "wsd"}},
                                 {"schedule.decay_steps", {"wsd"}},
                                 {"schedule.decay", {"wsd"}}};
  for (const char* const key : {"schedule.pct_start", "schedule.anneal_strategy", "schedule.three_phase",
                                "schedule.div_factor", "schedule.final_div_factor", "schedule.cycle_momentum",
                                "schedule.base_momentum", "schedule.max_momentum"}) {
    effects.push_back({key, {"one-cycle"}});
  }
  for (const char* const key :
       {"schedule.metric", "schedule.factor", "schedule.patience", "schedule.threshold",
        "schedule.threshold_mode", "schedule.cooldown", "schedule.min_lr", "schedule.eps"}) {
    effects.push_back({key, {"plateau"}});
  }
  return effects;
}

std::vector<Effect> effects_of_average_kind() {
  std::vector<Effect> effects = {{"average.decay", {"ema"}}, {"average.warmup", {"ema"}}};
  for (const char* const key : {"average.start", "average.every", "average.evaluate", "average.update_bn"}) {
    effects.push_back({key, {"ema", "swa"}});
  }
  return effects;
}

// Nothing if the key has its default value, be it written or not.
const std::string* location_if_changed(std::span<const Key> keys, const Loaded& loaded,
                                       std::string_view name) {
  const auto location = loaded.locations.find(std::string(name));
  const Key* const key = find_key(keys, name);
  if (location == loaded.locations.end() || key->show(loaded.config) == key->fallback) return nullptr;
  return &location->second;
}

/// A key that chooses, and its value.
struct Chosen {
  std::string_view key;
  std::string_view value;
};

void check_choice(std::span<const Key> keys, const Loaded& loaded, const Chosen& chosen,
                  const std::vector<Effect>& effects, std::vector<std::string>& mistakes) {
  for (const Effect& effect : effects) {
    if (std::find(effect.values.begin(), effect.values.end(), chosen.value) != effect.values.end()) continue;
    if (const std::string* location = location_if_changed(keys, loaded, effect.key)) {
      mistakes.push_back(fmt::format("{}: {} has no effect on {} = \"{}\", only on {}: leave it out",
                                     *location, effect.key, chosen.key, chosen.value,
                                     fmt::join(effect.values, ", ")));
    }
  }
}

// Keys of the schedule that another key of it switches off.
void check_schedule_keys(std::span<const Key> keys, const Loaded& loaded,
                         std::vector<std::string>& mistakes) {
  const ScheduleConfig& schedule = loaded.config.schedule;
  const auto refuse = [&](bool is_off, std::initializer_list<const char*> names, std::string_view reason) {
    for (const char* const name : names) {
      const std::string* const location = is_off ? location_if_changed(keys, loaded, name) : nullptr;
      if (location != nullptr) {
        mistakes.push_back(
            fmt::format("{}: {} has no effect with {}: leave it out", *location, name, reason));
      }
    }
  };
  refuse(schedule.warmup_steps == 0, {"schedule.warmup", "schedule.warmup_start_factor"},
         "schedule.warmup_steps = 0");
  refuse(schedule.name == "one-cycle" && !schedule.cycle_momentum,
         {"schedule.base_momentum", "schedule.max_momentum"}, "schedule.cycle_momentum = false");
  refuse(schedule.scale_with_batch == "none", {"schedule.base_batch_size"},
         "schedule.scale_with_batch = \"none\"");
}

void check_mask_keys(std::span<const Key> keys, const Loaded& loaded, std::vector<std::string>& mistakes) {
  const std::string* const location = location_if_changed(keys, loaded, "mask.parameters");
  if (location == nullptr || loaded.config.mask.sparsity > 0) return;
  mistakes.push_back(
      fmt::format("{}: mask.parameters has no effect with mask.sparsity = 0: leave it out", *location));
}

// The settings of a dynamic loss scale, where the scale is fixed or there is none.
void check_scale_keys(std::span<const Key> keys, const Loaded& loaded, std::vector<std::string>& mistakes) {
  if (loaded.config.precision.loss_scaling == LossScaling::kDynamic) return;
  for (const char* const name :
       {"precision.initial_scale", "precision.growth_factor", "precision.backoff_factor",
        "precision.growth_interval", "precision.hysteresis", "precision.least_scale"}) {
    if (const std::string* const location = location_if_changed(keys, loaded, name)) {
      mistakes.push_back(
          fmt::format("{}: {} has an effect only with precision.loss_scale = \"dynamic\": leave it out",
                      *location, name));
    }
  }
}

// The settings of a split, where no split is made.
void check_split(std::span<const Key> keys, const Loaded& loaded, std::vector<std::string>& mistakes) {
  const DataConfig& data = loaded.config.data;
  const std::string* split = location_if_changed(keys, loaded, "data.split");
  if (!data.test_path.empty()) {
    for (const char* const key : {"data.split", "data.test_share"}) {
      if (const std::string* location = location_if_changed(keys, loaded, key)) {
        mistakes.push_back(fmt::format(
            "{}: {} has no effect, since data.test_path names the test data: leave one out", *location, key));
      }
    }
  } else if (split != nullptr && data.test_share == 0.0) {
    mistakes.push_back(
        fmt::format("{}: data.split has no effect with data.test_share = 0: leave one out", *split));
  }
  if (data.kind == "text" && data.split != "auto" && data.split != "end") {
    mistakes.push_back(
        fmt::format("{}: data.split = \"{}\" is not for data.kind = \"text\": samples of text "
                    "may overlap, so the test data is the end of the text",
                    *split, data.split));
  }
}

// The optimizers and solvers that use a setting. A job that is tried with a solver on the command line keeps
// its learning rate and its schedule: training warns of them.
std::vector<std::string> all_users_of(std::string_view setting) {
  std::vector<std::string> users = users_of(setting);
  const bool is_warned_of = setting == "learning_rate";
  for (std::string& name : is_warned_of ? solver_names() : solvers_using(setting)) {
    users.push_back(std::move(name));
  }
  return users;
}

// Keys that a solver has no use for.
void check_solver_effect(std::span<const Key> keys, const Loaded& loaded,
                         std::vector<std::string>& mistakes) {
  const OptimizerConfig& optimizer = loaded.config.optimizer;
  if (!solver_named(optimizer.name)) return;
  std::vector<std::string_view> unused = {"optimizer.clip_grad_norm",  "optimizer.clip_grad_value",
                                          "optimizer.skip_non_finite", "train.bucket_bytes",
                                          "train.hash_every",          "train.one_copy",
                                          "train.deterministic",       "trace.file"};
  for (const Key& key : keys) {
    const std::string_view section = section_of(key.name);
    if (section == "precision" || section == "average" || section == "mask") unused.emplace_back(key.name);
  }
  for (const std::string_view name : unused) {
    if (const std::string* location = location_if_changed(keys, loaded, name)) {
      mistakes.push_back(
          fmt::format("{}: {} has no effect on the solver optimizer.name = \"{}\": leave it out", *location,
                      name, optimizer.name));
    }
  }
}

// The settings of an optimizer, where another one is chosen.
void check_optimizer_effect(std::span<const Key> keys, const Loaded& loaded,
                            std::vector<std::string>& mistakes) {
  const std::string& name = loaded.config.optimizer.name;
  for (const Key& key : keys) {
    if (section_of(key.name) != "optimizer") continue;
    const std::vector<std::string> users = all_users_of(std::string_view(key.name).substr(10));
    if (users.empty() || std::find(users.begin(), users.end(), name) != users.end()) continue;
    if (const std::string* location = location_if_changed(keys, loaded, key.name)) {
      mistakes.push_back(
          fmt::format("{}: {} has no effect on optimizer.name = \"{}\", only on {}: leave it out", *location,
                      key.name, name, fmt::join(users, ", ")));
    }
  }
}

}  // namespace

std::vector<std::string> check_effect(std::span<const Key> keys, const Loaded& loaded) {
  std::vector<std::string> mistakes;
  check_choice(keys, loaded, {"data.kind", loaded.config.data.kind}, effects_of_data_kind(), mistakes);
  check_split(keys, loaded, mistakes);
  check_optimizer_effect(keys, loaded, mistakes);
  check_solver_effect(keys, loaded, mistakes);
  check_choice(keys, loaded, {"schedule.name", loaded.config.schedule.name}, effects_of_schedule_name(),
               mistakes);
  check_schedule_keys(keys, loaded, mistakes);
  check_choice(keys, loaded, {"average.kind", loaded.config.average.kind}, effects_of_average_kind(),
               mistakes);
  check_mask_keys(keys, loaded, mistakes);
  check_scale_keys(keys, loaded, mistakes);
  return mistakes;
}

}  // namespace cohort::config
