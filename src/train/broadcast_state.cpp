#include <cohort/broadcast_state.h>

#include "comm/group/communicator.h"
#include "train/abort.h"
#include "train/module_tensors.h"
#include "train/same_on_all.h"
#include <cohort/error.h>
#include <cohort/group.h>

#include <fmt/format.h>
#include <sstream>
#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>
#include <torch/serialize.h>
#include <typeinfo>

namespace cohort {
namespace {

std::string saved(const torch::optim::Optimizer& optimizer) {
  std::ostringstream out;
  torch::save(optimizer, out);
  return std::move(out).str();
}

/// Rank 0's text, on all ranks.
std::string from_first(Communicator& group, std::string text) {
  std::vector<std::int64_t> size = {static_cast<std::int64_t>(text.size())};
  value_or_throw(group.run(broadcast(std::span(size), 0)));
  text.resize(static_cast<std::size_t>(size[0]));
  value_or_throw(group.run(broadcast({text.data(), text.size(), DType::kU8}, 0)));
  return text;
}

void check_same_optimizer(Communicator& group, const torch::optim::Optimizer& optimizer) {
  std::vector<train::SharedValue> values = {
      {"the kind of the optimizer", std::string(typeid(optimizer).name())},
      {"the number of parameter groups of the optimizer",
       static_cast<std::int64_t>(optimizer.param_groups().size())}};
  std::int64_t num_parameters = 0;
  for (const auto& each : optimizer.param_groups())
    num_parameters += static_cast<std::int64_t>(each.params().size());
  values.push_back({"the number of parameters of the optimizer", num_parameters});
  train::check_same_on_all(group, values,
                           "Make the same optimizer, over the same parameters, on every rank.");
}

void broadcast_module(Communicator& group, const torch::nn::Module& module) {
  const train::ModuleTensors tensors = train::tensors_of(module);
  train::check_same_module(group, tensors);
  for (const auto* each : {&tensors.parameters, &tensors.frozen, &tensors.buffers, &tensors.counters}) {
    train::send_from_first(group, *each);
  }
}

}  // namespace

void broadcast_state(Group& all, torch::nn::Module& module) {
  Communicator& group = all.communicator();
  train::or_abort(group, [&] { broadcast_module(group, module); });
}

void broadcast_state(Group& all, torch::nn::Module& module, torch::optim::Optimizer& optimizer) {
  Communicator& group = all.communicator();
  train::or_abort(group, [&] {
    broadcast_module(group, module);
    check_same_optimizer(group, optimizer);
    const std::string state = from_first(group, group.rank() == 0 ? saved(optimizer) : std::string());
    if (group.rank() == 0) return;
    std::istringstream in(state);
    torch::load(optimizer, in);
  });
}

}  // namespace cohort
