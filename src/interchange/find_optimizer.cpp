#include "interchange/optimizer_dict.h"

#include "interchange/input/printable.h"
#include "interchange/model_tensors.h"
#include "interchange/optimizer_fields.h"

#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace cohort::interchange {
namespace {

constexpr std::string_view kOptimizerKeys[] = {"optimizer_state_dict", "optimizer", "optim"};

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

Result<std::vector<Dict>> groups_in(const Dict& optimizer) {
  COHORT_ASSIGN_OR_RETURN(const List* const list, list_in(optimizer, "param_groups"));
  std::vector<Dict> groups;
  for (const Value& item : list->items) {
    const Dict* const group = item.as<Dict>();
    if (group == nullptr) {
      return bad_optimizer(fmt::format("expected a dict as a group, found {}", kind_of(item)));
    }
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
  if (number == nullptr || !(std::abs(*number) < kBeyond) || std::trunc(*number) != *number) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*number);
}

Status add_state(const std::string& name, const Value& key, const Value& value, OptimizerState& state) {
  const auto* const field = key.as<std::string>();
  if (field == nullptr) {
    return bad_optimizer(fmt::format("'{}' has {} as a key", printable(name), kind_of(key)));
  }
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

}  // namespace cohort::interchange
