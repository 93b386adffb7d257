#include "train/settings.h"

#include "update/groups.h"

#include <algorithm>
#include <fmt/format.h>
#include <torch/nn/module.h>

namespace cohort::train {
namespace {

bool is_power_of_two(int number) {
  return number > 0 && (number & (number - 1)) == 0;
}

[[noreturn]] void refuse(std::string message, std::string remedy) {
  throw UsageError(UsageError(std::move(message)).with_remedy(std::move(remedy)));
}

}  // namespace

int slots_of(const TrainerOptions& options, int world) {
  return options.slots == 0 ? world : options.slots;
}

void check_options(const TrainerOptions& options, int world) {
  const int slots = slots_of(options, world);
  if (options.batch < 0 || options.epochs < 0 || options.slots < 0) {
    refuse("batch, slots and epochs cannot be negative", "Give 0 or more.");
  }
  if (slots < world) {
    refuse(fmt::format("{} slots are too few for {} ranks", slots, world),
           "Give at least one slot per rank, or leave train.slots out.");
  }
  if (options.deterministic == Deterministic::kAnyWorld &&
      (options.slots == 0 || !is_power_of_two(slots) || !is_power_of_two(world))) {
    refuse(fmt::format(
               "the same bits in any world need a fixed number of slots and ranks that is a power of two, "
               "not {} slots on {} ranks",
               options.slots == 0 ? 0 : slots, world),
           "Set train.slots to 8, for example, and use 1, 2, 4 or 8 ranks.");
  }
}

ReplicaSettings replica_settings(const TrainerOptions& options) {
  return {.seed = options.seed,
          .summation =
              options.deterministic == Deterministic::kAnyWorld ? Summation::kByTree : Summation::kByRank,
          .clip_norm = options.clip_norm,
          .clip_value = options.clip_value,
          .skip_non_finite = options.skip_non_finite,
          .bucket_bytes = options.bucket_bytes,
          .copies = options.one_copy ? Copies::kOne : Copies::kPerRank};
}

std::vector<GroupSettings> check_groups(const TrainerOptions& options, const torch::nn::Module& module) {
  std::vector<std::string> names;
  for (const NamedTensor& named : tensors_of(module).parameters) names.push_back(named.name);
  const auto groups = value_or_throw(parse_groups(options.groups));
  auto settings = value_or_throw(settings_by_name(groups, names));
  if (std::all_of(settings.begin(), settings.end(),
                  [](const GroupSettings& each) { return each.is_frozen; })) {
    refuse("the module has no parameter to train", "Register one, or unfreeze one.");
  }
  const bool has_rates = std::any_of(settings.begin(), settings.end(),
                                     [](const GroupSettings& each) { return each.learning_rate; });
  if (has_rates && options.schedule.learning_rate == 0) {
    refuse(
        "groups have learning rates of their own, but update.learning_rate is 0: there is no curve to follow",
        "Set update.learning_rate, and give the other parameters learning_rate=0 in a last group \"*\".");
  }
  return settings;
}

Frozen::Frozen(const TrainerOptions& options, const torch::nn::Module& module) {
  const std::vector<GroupSettings> settings = check_groups(options, module);
  const ModuleTensors tensors = tensors_of(module);
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (settings[i].is_frozen) tensors_.push_back(tensors.parameters[i].tensor);
  }
  for (at::Tensor& tensor : tensors_) tensor.set_requires_grad(false);
}

Frozen::~Frozen() {
  for (at::Tensor& tensor : tensors_) tensor.set_requires_grad(true);
}

std::vector<ParameterUpdate> updates_of(const TrainerOptions& options, const torch::nn::Module& module) {
  std::vector<std::string> names;
  for (const NamedTensor& named : tensors_of(module).parameters) names.push_back(named.name);
  const auto groups = value_or_throw(parse_groups(options.groups));
  std::vector<ParameterUpdate> updates;
  for (const std::string& name : names) {
    const GroupSettings settings = settings_of(groups, name);
    ParameterUpdate& update = updates.emplace_back(ParameterUpdate{.rule = options.rule});
    update.rule.weight_decay = settings.weight_decay.value_or(options.rule.weight_decay);
    if (settings.learning_rate) update.rate_factor = *settings.learning_rate / options.schedule.learning_rate;
  }
  return updates;
}

}  // namespace cohort::train
