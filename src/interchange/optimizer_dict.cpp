#include "interchange/optimizer_dict.h"

#include "interchange/optimizer_fields.h"

#include <fmt/format.h>
#include <map>
#include <set>

namespace cohort::interchange {
namespace {

Error no_parameter(const std::string& name, std::size_t num_parameters) {
  return Error(ErrorCode::kUsage,
               fmt::format("'{}' is not the state of one of the {} parameters", name, num_parameters));
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

Result<Dict> optimizer_dict(std::span<const NamedTensor> tensors, std::span<const std::string> parameters,
                            std::span<const Dict> groups) {
  COHORT_RETURN_IF_ERROR(check_groups(groups, parameters.size()));
  std::map<std::string_view, std::size_t> numbers;
  for (std::size_t i = 0; i < parameters.size(); ++i) numbers.emplace(parameters[i], i);
  std::map<std::size_t, Dict> by_parameter;
  for (const NamedTensor& each : tensors) {
    const std::size_t slash = std::min(each.name.rfind('/'), each.name.size());
    const auto found = numbers.find(std::string_view(each.name).substr(0, slash));
    if (found == numbers.end() || slash == each.name.size()) {
      return no_parameter(each.name, parameters.size());
    }
    by_parameter[found->second].add(each.name.substr(slash + 1), each.tensor);
  }
  Dict state;
  for (auto& [index, fields] : by_parameter) state.add(static_cast<std::int64_t>(index), std::move(fields));
  Dict optimizer;
  optimizer.add("state", std::move(state));
  optimizer.add("param_groups", List{.items = {groups.begin(), groups.end()}});
  return optimizer;
}

}  // namespace cohort::interchange
