#include "train/optimizer_state.h"

#include "train/tensor_pieces.h"
#include <cohort/error.h>

#include <ATen/ATen.h>
#include <algorithm>
#include <fmt/format.h>
#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/optimizer.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

namespace cohort::train {
namespace {

using torch::optim::OptimizerOptions;
using torch::optim::OptimizerParamState;

/// A tensor that the optimizer keeps for a parameter.
struct StateTensor {
  std::string_view name;  // as torch.optim calls it
  at::Tensor* tensor;
  bool is_kept;  // under the options of the parameter group
};

/// The state of one parameter.
struct ParameterState {
  std::vector<StateTensor> tensors;
  std::int64_t* step = nullptr;  // null: not counted
};

ParameterState fields_of(torch::optim::SGDParamState& state, const torch::optim::SGDOptions& options) {
  const bool is_new = options.momentum() != 0 && !state.momentum_buffer().defined();
  if (is_new && options.dampening() != 0) {
    throw UsageError(
        UsageError("the state of torch::optim::SGD with dampening does not exist before its first step")
            .with_remedy("Visit it after the first step, or set the dampening to 0."));
  }
  return {.tensors = {{"momentum_buffer", &state.momentum_buffer(), options.momentum() != 0}}};
}

template <class State, class Options>
ParameterState fields_of_adam(State& state, const Options& options) {
  return {.tensors = {{"exp_avg", &state.exp_avg(), true},
                      {"exp_avg_sq", &state.exp_avg_sq(), true},
                      {"max_exp_avg_sq", &state.max_exp_avg_sq(), options.amsgrad()}},
          .step = &state.step()};
}

ParameterState fields_of(torch::optim::AdamParamState& state, const torch::optim::AdamOptions& options) {
  return fields_of_adam(state, options);
}

ParameterState fields_of(torch::optim::AdamWParamState& state, const torch::optim::AdamWOptions& options) {
  return fields_of_adam(state, options);
}

ParameterState fields_of(torch::optim::RMSpropParamState& state,
                         const torch::optim::RMSpropOptions& options) {
  return {.tensors = {{"square_avg", &state.square_avg(), true},
                      {"momentum_buffer", &state.momentum_buffer(), options.momentum() > 0},
                      {"grad_avg", &state.grad_avg(), options.centered()}},
          .step = &state.step()};
}

ParameterState fields_of(torch::optim::AdagradParamState& state, const torch::optim::AdagradOptions&) {
  return {.tensors = {{"sum", &state.sum(), true}}, .step = &state.step()};
}

template <class State, class Options>
ParameterState state_with(std::unique_ptr<OptimizerParamState>& state, const OptimizerOptions& options) {
  if (state == nullptr) state = std::make_unique<State>();
  return fields_of(static_cast<State&>(*state), static_cast<const Options&>(options));
}

/// The state of a parameter; makes one in the place of null.
using StateOf = ParameterState (*)(std::unique_ptr<OptimizerParamState>&, const OptimizerOptions&);

template <class Optimizer, class State, class Options>
StateOf state_if(const torch::optim::Optimizer& optimizer) {
  const bool is_it = dynamic_cast<const Optimizer*>(&optimizer) != nullptr;  // NOLINT: torch has no other tag
  return is_it ? state_with<State, Options> : nullptr;
}

StateOf state_of(const torch::optim::Optimizer& optimizer) {
  using namespace torch::optim;  // NOLINT: five optimizers with two types each
  for (const StateOf each : {state_if<SGD, SGDParamState, SGDOptions>(optimizer),
                             state_if<Adam, AdamParamState, AdamOptions>(optimizer),
                             state_if<AdamW, AdamWParamState, AdamWOptions>(optimizer),
                             state_if<RMSprop, RMSpropParamState, RMSpropOptions>(optimizer),
                             state_if<Adagrad, AdagradParamState, AdagradOptions>(optimizer)}) {
    if (each != nullptr) return each;
  }
  throw UsageError(UsageError("the state of this optimizer cannot be visited")
                       .with_remedy("Use torch::optim::SGD, Adam, AdamW, RMSprop or Adagrad."));
}

const std::string& name_of(const at::Tensor& parameter, const ModuleTensors& tensors) {
  for (const auto* kind : {&tensors.parameters, &tensors.frozen}) {
    for (const NamedTensor& named : *kind) {
      if (named.tensor.is_same(parameter)) return named.name;
    }
  }
  throw UsageError(
      UsageError("the optimizer has a parameter that the module does not have")
          .with_remedy("Make the optimizer from module->parameters(), after the last change of the "
                       "module."));
}

// False for SGD without momentum, which must not get a state: it would not make one if momentum were set
// later.
bool is_kept(const ParameterState& state) {
  return state.step != nullptr || std::any_of(state.tensors.begin(), state.tensors.end(),
                                              [](const StateTensor& each) { return each.is_kept; });
}

void visit_parameter(const std::string& name, const at::Tensor& parameter, const ParameterState& state,
                     const StateVisitor& visitor) {
  for (const StateTensor& each : state.tensors) {
    if (!each.is_kept) continue;
    if (!each.tensor->defined()) *each.tensor = at::zeros_like(parameter, at::MemoryFormat::Preserve);
    visitor(whole_piece(fmt::format("{}/{}", name, each.name), *each.tensor));
  }
  if (state.step != nullptr) visitor(number_piece(fmt::format("{}/step", name), *state.step));
}

}  // namespace

void visit_optimizer(torch::optim::Optimizer& optimizer, const ModuleTensors& tensors,
                     const StateVisitor& visitor) {
  const at::NoGradGuard no_grad;
  const StateOf find = state_of(optimizer);
  for (const auto& group : optimizer.param_groups()) {
    for (const at::Tensor& parameter : group.params()) {
      const std::string& name = name_of(parameter, tensors);
      const auto found = optimizer.state().find(parameter.unsafeGetTensorImpl());
      const bool is_new = found == optimizer.state().end();
      std::unique_ptr<OptimizerParamState> made;
      const ParameterState state = find(is_new ? made : found->second, group.options());
      if (!is_kept(state)) continue;
      if (is_new) optimizer.state()[parameter.unsafeGetTensorImpl()] = std::move(made);
      visit_parameter(name, parameter, state, visitor);
    }
  }
}

}  // namespace cohort::train
