#include "checkpoint/optimizer_group_json.h"

#include <cmath>

namespace cohort::checkpoint {
namespace {

// JSON has no numbers that are not finite: they become null, which a reader leaves out.
bool is_writable(const GroupSetting& setting) {
  const auto* const number = std::get_if<double>(&setting);
  return number == nullptr || std::isfinite(*number);
}

OrderedJson encode_group(const OptimizerGroup& group) {
  OrderedJson settings = OrderedJson::object();
  for (const auto& each : group.settings) {
    OrderedJson& member = settings[each.first];
    if (is_writable(each.second)) std::visit([&](const auto& value) { member = value; }, each.second);
  }
  return {{"parameters", group.parameters}, {"settings", settings}};
}

}  // namespace

OrderedJson encode_groups(const std::vector<OptimizerGroup>& groups) {
  OrderedJson array = OrderedJson::array();
  for (const OptimizerGroup& group : groups) array.push_back(encode_group(group));
  return array;
}

std::vector<OptimizerGroup> decode_groups(JsonFields& fields, std::string_view name) {
  std::vector<OptimizerGroup> groups;
  if (!fields.has(name)) return groups;
  fields.each(name, [&](JsonFields group) {
    groups.push_back({.parameters = group.text_list("parameters"), .settings = group.settings("settings")});
  });
  return groups;
}

}  // namespace cohort::checkpoint
