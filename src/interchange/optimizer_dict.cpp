#include "interchange/optimizer_dict.h"

#include "interchange/input/printable.h"
#include "interchange/model_tensors.h"

#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace cohort::interchange {
namespace {

constexpr std::string_view kOptimizerKeys[] = {"optimizer_state_dict", "optimizer", "optim"};

Error bad_optimizer(const std::string& why) {
  return Error(ErrorCode::kCorrupt, fmt::format("the state of the optimizer is malformed: {}", why));
}

const Dict* optimizer_in(const Value* value) {
  const Dict* const dict = value == nullptr ? nullptr : value->as<Dict>();
  const bool is_it =
      dict != nullptr && dict->find("state") != nullptr && dict->find("param_groups") != nullptr;
  return is_it ? dict : nullptr;
}

Result<const Dict*> find_dict(const Value& root) {
  if (const Dict* const dict = optimizer_in(&root)) return dict;
  const Dict* const outer = root.as<Dict>();
  for (const std::string_view key : kOptimizerKeys) {
    const Dict* const dict = outer == nullptr ? nullptr : optimizer_in(outer->find(key));
    if (dict != nullptr) return dict;
  }
  return Error(ErrorCode::kUsage,
               fmt::format("expected a dictionary with 'state' and 'param_groups', found {}", keys_of(root)))
      .with_remedy("Save the optimizer in Python: torch.save(optimizer.state_dict(), path).");
}

Result<const List*> list_in(const Dict& dict, std::string_view key) {
  const Value* const found = dict.find(key);
  const List* const list = found == nullptr ? nullptr : found->as<List>();
  if (list != nullptr) return list;
  return bad_optimizer(fmt::format("expected a list under '{}', found {}", key,
                                   found == nullptr ? "nothing" : kind_of(*found)));
}

Result<std::vector<Dict>> groups_in(const Dict& optimizer) {
  COHORT_ASSIGN_OR_RETURN(const List* const list, list_in(optimizer, "param_groups"));
  std::vector<Dict> groups;
  for (const Value& item : list->items) {
    const Dict* const group = item.as<Dict>();
    if (group == nullptr)
      return bad_optimizer(fmt::format("expected a dict as a group, found {}", kind_of(item)));
    groups.push_back(*group);
  }
  return groups;
}

// The name of each parameter, by its key in `state`: a number, or already a name.
class ParameterNames {
 public:
  static Result<ParameterNames> of(std::span<const Dict> groups, std::span<const std::string> given) {
    ParameterNames names;
    std::size_t count = 0;
    for (const Dict& group : groups) {
      COHORT_ASSIGN_OR_RETURN(const List* const params, list_in(group, "params"));
      const Value* const stored = group.find("param_names");
      const List* const stored_names = stored == nullptr ? nullptr : stored->as<List>();
      for (std::size_t i = 0; i < params->items.size(); ++i, ++count) {
        const Value* const own =
            stored_names != nullptr && i < stored_names->items.size() ? &stored_names->items[i] : nullptr;
        COHORT_RETURN_IF_ERROR(names.add(params->items[i], own, given, count));
      }
    }
    if (given.empty() || given.size() == count) return names;
    return Error(ErrorCode::kUsage,
                 fmt::format("the optimizer has {} parameters, expected {}", count, given.size()))
        .with_remedy("Give the names of exactly the parameters that the optimizer was made with.");
  }

  Result<std::string> name_of(const Value& key) const {
    if (const auto* const text = key.as<std::string>()) return *text;
    const auto* const number = key.as<std::int64_t>();
    const auto found = number == nullptr ? names_.end() : names_.find(*number);
    if (found != names_.end()) return found->second;
    return bad_optimizer("'state' has a parameter that is in no group");
  }

 private:
  Status add(const Value& key, const Value* own, std::span<const std::string> given, std::size_t count) {
    if (key.as<std::string>() != nullptr) return {};
    const auto* const number = key.as<std::int64_t>();
    if (number == nullptr) return bad_optimizer(fmt::format("a parameter of a group is {}", kind_of(key)));
    const auto* const own_name = own == nullptr ? nullptr : own->as<std::string>();
    if (given.empty() && own_name == nullptr) {
      return Error(ErrorCode::kUsage, "the optimizer has no names of parameters")
          .with_remedy("Give their names, in the order of module.named_parameters().");
    }
    const std::string name = !given.empty() && count < given.size() ? given[count]
                             : own_name                             ? *own_name
                                                                    : "";
    if (names_.emplace(*number, name).second) return {};
    return bad_optimizer(fmt::format("parameter {} is in two groups", *number));
  }

  std::map<std::int64_t, std::string> names_;
};

// A number of updates that is not a tensor.
std::optional<std::int64_t> whole_number(const Value& value) {
  if (const auto* const number = value.as<std::int64_t>()) return *number;
  const auto* const number = value.as<double>();
  constexpr double kBeyond = 9.0e18;
  if (number == nullptr || !(std::abs(*number) < kBeyond) || std::trunc(*number) != *number)
    return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

Status add_state(const std::string& name, const Value& key, const Value& value, OptimizerState& state) {
  const auto* const field = key.as<std::string>();
  if (field == nullptr)
    return bad_optimizer(fmt::format("'{}' has {} as a key", printable(name), kind_of(key)));
  const std::string full = fmt::format("{}/{}", name, *field);
  const auto number = whole_number(value);
  if (const auto* const tensor = value.as<StoredTensor>()) {
    state.tensors.push_back({.name = full, .tensor = *tensor});
  } else if (*field == "step" && number) {
    state.numbers.push_back({.name = full, .value = *number});
  } else if (!value.is_none()) {  // SGD without momentum has 'momentum_buffer': None
    return Error(ErrorCode::kUnsupported, fmt::format("the optimizer keeps {} as '{}', expected a tensor",
                                                      kind_of(value), printable(full)));
  }
  return {};
}

// The number of the parameter that a name such as `weight/exp_avg` begins with, and the rest of the name.
Result<std::pair<std::size_t, std::string>> place_of(const std::string& name,
                                                     std::span<const std::string> parameters) {
  const std::size_t slash = name.rfind('/');
  for (std::size_t i = 0; slash != std::string::npos && i < parameters.size(); ++i) {
    if (std::string_view(name).substr(0, slash) == parameters[i]) return std::pair(i, name.substr(slash + 1));
  }
  return Error(ErrorCode::kUsage,
               fmt::format("'{}' is not the state of one of the {} parameters", name, parameters.size()));
}

Status check_groups(std::span<const Dict> groups, std::size_t num_parameters) {
  std::set<std::int64_t> seen;
  for (const Dict& group : groups) {
    COHORT_ASSIGN_OR_RETURN(const List* const params, list_in(group, "params"));
    for (const Value& item : params->items) {
      const auto* const number = item.as<std::int64_t>();
      if (number == nullptr || !seen.insert(*number).second) {
        return bad_optimizer("expected different numbers as the parameters of the groups");
      }
    }
  }
  const bool is_all = seen.size() == num_parameters &&
                      (seen.empty() || (*seen.begin() == 0 && *seen.rbegin() + 1 == std::ssize(seen)));
  if (is_all) return {};
  return Error(ErrorCode::kUsage, fmt::format("the groups have {} parameters, expected numbers 0 … {}",
                                              seen.size(), static_cast<std::int64_t>(num_parameters) - 1));
}

}  // namespace

Result<OptimizerState> find_optimizer(const Value& root, std::span<const std::string> parameters) {
  COHORT_ASSIGN_OR_RETURN(const Dict* const optimizer, find_dict(root));
  OptimizerState state;
  COHORT_ASSIGN_OR_RETURN(state.groups, groups_in(*optimizer));
  COHORT_ASSIGN_OR_RETURN(const ParameterNames names, ParameterNames::of(state.groups, parameters));
  const Dict* const by_parameter = optimizer->find("state")->as<Dict>();
  if (by_parameter == nullptr) return bad_optimizer("expected a dict under 'state'");
  for (const auto& [parameter, value] : by_parameter->entries) {
    COHORT_ASSIGN_OR_RETURN(const std::string name, names.name_of(parameter));
    const Dict* const fields = value.as<Dict>();
    if (fields == nullptr) return bad_optimizer(fmt::format("'{}' has {}", printable(name), kind_of(value)));
    for (const auto& [key, each] : fields->entries) {
      COHORT_RETURN_IF_ERROR(add_state(name, key, each, state));
    }
  }
  return state;
}

Result<Dict> optimizer_dict(std::span<const NamedTensor> tensors, std::span<const std::string> parameters,
                            std::span<const Dict> groups) {
  COHORT_RETURN_IF_ERROR(check_groups(groups, parameters.size()));
  std::map<std::size_t, Dict> by_parameter;
  for (const NamedTensor& each : tensors) {
    COHORT_ASSIGN_OR_RETURN(auto place, place_of(each.name, parameters));
    by_parameter[place.first].add(std::move(place.second), each.tensor);
  }
  Dict state;
  for (auto& [index, fields] : by_parameter) state.add(static_cast<std::int64_t>(index), std::move(fields));
  Dict optimizer;
  optimizer.add("state", std::move(state));
  optimizer.add("param_groups", List{.items = {groups.begin(), groups.end()}});
  return optimizer;
}

}  // namespace cohort::interchange
