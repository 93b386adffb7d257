#include "checkpoint/optimizer_dict.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

using interchange::Dict;
using interchange::List;
using interchange::Tuple;
using interchange::Value;

Value value_of(const checkpoint::GroupSetting& setting) {
  if (const auto* const flag = std::get_if<bool>(&setting)) return *flag;
  if (const auto* const number = std::get_if<double>(&setting)) return *number;
  Tuple tuple;  // as betas of torch.optim
  for (const double each : std::get<std::vector<double>>(setting)) tuple.items.emplace_back(each);
  return tuple;
}

/// The group of these parameters, the first of which has number `first`.
Dict dict_of(const checkpoint::OptimizerGroup& group, std::int64_t first) {
  Dict dict;
  for (const auto& [name, setting] : group.settings) dict.add(name, value_of(setting));
  List numbers, names;
  for (const std::string& name : group.parameters) {
    numbers.items.emplace_back(first + std::ssize(numbers.items));
    names.items.emplace_back(name);
  }
  dict.add("params", std::move(numbers));
  dict.add("param_names", std::move(names));
  return dict;
}

}  // namespace

bool OptimizerTensors::is_step(const checkpoint::WholeTensor& tensor) const {
  return tensor.name.ends_with("/step") && tensor.dtype == DType::kI64 && tensor.num_elements() == 1;
}

// Groups of SGD have a dampening, those of optimizers that count have none.
bool OptimizerTensors::counts_updates() const {
  return std::none_of(course_.optimizer_groups.begin(), course_.optimizer_groups.end(),
                      [](const auto& group) { return group.settings.count("dampening") != 0; });
}

Status OptimizerTensors::add_step(const checkpoint::WholeTensor& tensor,
                                  interchange::OutgoingTensors& outgoing) {
  if (!counts_updates()) return {};
  std::int64_t count = 0;
  COHORT_RETURN_IF_ERROR(tensors_.read(tensor, 0, std::as_writable_bytes(std::span(&count, 1))));
  add(tensor.name, outgoing.add_step(count));
  return {};
}

void OptimizerTensors::add(const std::string& name, interchange::StoredTensor tensor) {
  state_.push_back({.name = name, .tensor = std::move(tensor)});
}

Result<Dict> OptimizerTensors::dict() const {
  if (course_.optimizer_groups.empty()) {
    return Error(ErrorCode::kUsage, "the settings of the optimizer, such as lr, are not known")
        .with_remedy(
            "Leave out --with optimizer, or write --to safetensors or --to cohort. Snapshots that a Trainer "
            "or a "
            "Checkpoint writes have them.");
  }
  std::vector<std::string> parameters;
  std::vector<Dict> groups;
  for (const checkpoint::OptimizerGroup& group : course_.optimizer_groups) {
    groups.push_back(dict_of(group, std::ssize(parameters)));
    parameters.insert(parameters.end(), group.parameters.begin(), group.parameters.end());
  }
  return interchange::optimizer_dict(state_, parameters, groups);
}

}  // namespace cohort::tool
