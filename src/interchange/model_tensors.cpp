#include "interchange/model_tensors.h"

#include "interchange/input/printable.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

namespace cohort::interchange {
namespace {

constexpr std::string_view kModelKeys[] = {"state_dict", "model_state_dict", "model", "module"};

std::string name_of(const Value& key) {
  if (const auto* const text = key.as<std::string>()) return *text;
  const auto* const number = key.as<std::int64_t>();
  return number != nullptr ? std::to_string(*number) : kind_of(key);
}

bool has_tensors(const Value& value) {
  const Dict* const dict = value.as<Dict>();
  return dict != nullptr && std::any_of(dict->entries.begin(), dict->entries.end(), [](const Entry& entry) {
           return entry.second.as<StoredTensor>() != nullptr;
         });
}

ModelTensors tensors_in(const Value& value, std::string_view under) {
  ModelTensors model{.under = std::string(under), .tensors = {}, .others = {}};
  for (const auto& [key, each] : value.as<Dict>()->entries) {
    if (const auto* const tensor = each.as<StoredTensor>()) {
      model.tensors.push_back({.name = name_of(key), .tensor = *tensor});
    } else {
      model.others.push_back(name_of(key));
    }
  }
  return model;
}

Error no_model(const Value& root, const std::string& expected) {
  return Error(ErrorCode::kUsage, fmt::format("expected {}, found {}", expected, keys_of(root)))
      .with_remedy("Name the key of the dictionary that has the model's tensors.");
}

}  // namespace

std::string keys_of(const Value& value) {
  const Dict* const dict = value.as<Dict>();
  if (dict == nullptr) return kind_of(value);
  constexpr std::size_t kMostShown = 8;
  std::vector<std::string> keys;
  for (const auto& [key, each] : dict->entries) {
    if (keys.size() == kMostShown) break;
    keys.push_back(fmt::format("'{}'", printable(name_of(key))));
  }
  const std::size_t more = dict->entries.size() - keys.size();
  return fmt::format("a dict with {} keys: {}{}", dict->entries.size(), fmt::join(keys, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

Result<ModelTensors> find_model(const Value& root, std::string_view under) {
  const Dict* const dict = root.as<Dict>();
  if (!under.empty()) {
    const Value* const found = dict == nullptr ? nullptr : dict->find(under);
    if (found != nullptr && has_tensors(*found)) return tensors_in(*found, under);
    return no_model(root, fmt::format("a dictionary of tensors under '{}'", printable(under)));
  }
  if (has_tensors(root)) return tensors_in(root, {});
  std::optional<ModelTensors> model;
  for (const std::string_view key : kModelKeys) {
    const Value* const found = dict == nullptr ? nullptr : dict->find(key);
    if (found == nullptr || !has_tensors(*found)) continue;
    if (model) {
      return no_model(root, fmt::format("one state dict, not two under '{}' and '{}'", model->under, key));
    }
    model = tensors_in(*found, key);
  }
  if (model) return std::move(*model);
  return no_model(root, "the state dict of a model");
}

}  // namespace cohort::interchange
