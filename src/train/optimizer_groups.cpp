#include "train/optimizer_groups.h"

#include "update/settings.h"

#include <algorithm>
#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>
#include <tuple>

namespace cohort::train {
namespace {

using checkpoint::OptimizerGroup;
using Settings = std::map<std::string, checkpoint::GroupSetting>;

std::vector<double> list_of(const std::tuple<double, double>& betas) {
  return {std::get<0>(betas), std::get<1>(betas)};
}

Settings settings_of_update(const ParameterUpdate& how, double learning_rate) {
  Settings settings{{"lr", learning_rate * how.rate_factor}};
  for (const OptimizerSetting& each : used_settings(how.optimizer)) {
    settings.emplace(std::string(each.name), each.value);
  }
  if (how.optimizer.kind == OptimizerKind::kAdafactor) {  // torch has both numbers under one name
    settings["eps"] = std::vector<double>{with_defaults(how.optimizer).eps.value(), how.optimizer.eps2};
    settings.erase("eps2");
  }
  return settings;
}

Settings known_settings(const torch::optim::SGDOptions& options) {
  return {{"weight_decay", options.weight_decay()},
          {"momentum", options.momentum()},
          {"dampening", options.dampening()},
          {"nesterov", options.nesterov()}};
}

template <class Options>
Settings settings_of_adam(const Options& options) {
  return {{"weight_decay", options.weight_decay()},
          {"betas", list_of(options.betas())},
          {"eps", options.eps()},
          {"amsgrad", options.amsgrad()}};
}
Settings known_settings(const torch::optim::AdamOptions& options) {
  return settings_of_adam(options);
}
Settings known_settings(const torch::optim::AdamWOptions& options) {
  return settings_of_adam(options);
}

Settings known_settings(const torch::optim::RMSpropOptions& options) {
  return {{"weight_decay", options.weight_decay()},
          {"alpha", options.alpha()},
          {"eps", options.eps()},
          {"momentum", options.momentum()},
          {"centered", options.centered()}};
}

Settings known_settings(const torch::optim::AdagradOptions& options) {
  return {{"weight_decay", options.weight_decay()},
          {"lr_decay", options.lr_decay()},
          {"initial_accumulator_value", options.initial_accumulator_value()},
          {"eps", options.eps()}};
}

/// The settings if the options are of this type.
template <class Options>
bool add_if(const torch::optim::OptimizerOptions& options, Settings& settings) {
  const auto* const known = dynamic_cast<const Options*>(&options);  // NOLINT: torch has no other tag
  if (known != nullptr) settings.merge(known_settings(*known));
  return known != nullptr;
}

// False for an optimizer of the user.
bool add_settings(const torch::optim::OptimizerOptions& options, Settings& settings) {
  using namespace torch::optim;  // NOLINT: five kinds
  return add_if<SGDOptions>(options, settings) || add_if<AdamOptions>(options, settings) ||
         add_if<AdamWOptions>(options, settings) || add_if<RMSpropOptions>(options, settings) ||
         add_if<AdagradOptions>(options, settings);
}

std::string name_among(const ModuleTensors& tensors, const at::Tensor& parameter) {
  for (const auto* kind : {&tensors.parameters, &tensors.frozen}) {
    for (const NamedTensor& named : *kind) {
      if (named.tensor.is_same(parameter)) return named.name;
    }
  }
  return "";
}

}  // namespace

std::vector<OptimizerGroup> optimizer_groups(const ShardedUpdate& update,
                                             std::span<const NamedTensor> parameters) {
  std::vector<OptimizerGroup> groups;
  for (std::size_t p = 0; p < update.updates().size(); ++p) {
    Settings settings = settings_of_update(update.updates()[p], update.terms().learning_rate);
    const auto same = [&](const OptimizerGroup& group) { return group.settings == settings; };
    auto found = std::find_if(groups.begin(), groups.end(), same);
    if (found == groups.end()) found = groups.insert(groups.end(), {.settings = std::move(settings)});
    found->parameters.push_back(parameters[p].name);
  }
  return groups;
}

std::vector<OptimizerGroup> optimizer_groups(const torch::optim::Optimizer& optimizer,
                                             const ModuleTensors& tensors) {
  std::vector<OptimizerGroup> groups;
  for (const torch::optim::OptimizerParamGroup& each : optimizer.param_groups()) {
    OptimizerGroup group{.settings = {{"lr", each.options().get_lr()}}};
    if (!add_settings(each.options(), group.settings)) return {};
    for (const at::Tensor& parameter : each.params()) {
      group.parameters.push_back(name_among(tensors, parameter));
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace cohort::train
