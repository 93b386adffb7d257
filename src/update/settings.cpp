#include "update/settings.h"

#include "update/kernels.h"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <optional>

namespace cohort {
namespace {

constexpr double kAny = std::numeric_limits<double>::infinity();
constexpr double kBelowOne = 1;

/// A line of the table of settings.
struct SettingRow {
  std::string_view name;
  std::optional<SettingValue> (*get)(const OptimizerSettings&);
  double least;  ///< of its numbers
  double below;
};

std::optional<SettingValue> pair_of(const std::optional<std::pair<double, double>>& pair) {
  if (!pair) return std::nullopt;
  return std::vector<double>{pair->first, pair->second};
}

std::optional<SettingValue> list_of(const std::vector<double>& numbers) {
  return numbers.empty() ? std::nullopt : std::optional<SettingValue>(numbers);
}

template <class Value>
std::optional<SettingValue> value_of(const std::optional<Value>& value) {
  return value ? std::optional<SettingValue>(*value) : std::nullopt;
}

constexpr SettingRow kSettingRows[] = {
    {"learning_rate", [](const OptimizerSettings& s) { return value_of(s.learning_rate); }, 0, kAny},
    {"momentum", [](const OptimizerSettings& s) { return value_of(s.momentum); }, 0, kBelowOne},
    {"nesterov", [](const OptimizerSettings& s) { return value_of(s.nesterov); }, 0, kAny},
    {"betas", [](const OptimizerSettings& s) { return pair_of(s.betas); }, 0, kBelowOne},
    {"eps", [](const OptimizerSettings& s) { return value_of(s.eps); }, 0, kAny},
    {"weight_decay", [](const OptimizerSettings& s) { return value_of(std::optional(s.weight_decay)); }, 0,
     kAny},
    {"maximize", [](const OptimizerSettings& s) { return value_of(std::optional(s.maximize)); }, 0, kAny},
    {"dampening", [](const OptimizerSettings& s) { return value_of(std::optional(s.dampening)); }, 0, kAny},
    {"amsgrad", [](const OptimizerSettings& s) { return value_of(std::optional(s.amsgrad)); }, 0, kAny},
    {"alpha", [](const OptimizerSettings& s) { return value_of(std::optional(s.alpha)); }, 0, kBelowOne},
    {"centered", [](const OptimizerSettings& s) { return value_of(std::optional(s.centered)); }, 0, kAny},
    {"rho", [](const OptimizerSettings& s) { return value_of(std::optional(s.rho)); }, 0, kBelowOne},
    {"lr_decay", [](const OptimizerSettings& s) { return value_of(std::optional(s.lr_decay)); }, 0, kAny},
    {"initial_accumulator_value",
     [](const OptimizerSettings& s) { return value_of(std::optional(s.initial_accumulator_value)); }, 0,
     kAny},
    {"momentum_decay", [](const OptimizerSettings& s) { return value_of(std::optional(s.momentum_decay)); },
     0, kAny},
    {"decoupled_weight_decay",
     [](const OptimizerSettings& s) { return value_of(std::optional(s.decoupled_weight_decay)); }, 0, kAny},
    {"trust_coefficient",
     [](const OptimizerSettings& s) { return value_of(std::optional(s.trust_coefficient)); }, 0, kAny},
    {"beta2_decay", [](const OptimizerSettings& s) { return value_of(std::optional(s.beta2_decay)); }, -10,
     0},
    {"eps2", [](const OptimizerSettings& s) { return value_of(std::optional(s.eps2)); }, 0, kAny},
    {"d", [](const OptimizerSettings& s) { return value_of(std::optional(s.d)); }, 1, kAny},
    {"ns_steps", [](const OptimizerSettings& s) { return value_of(std::optional<double>(s.ns_steps)); }, 0,
     100},
    {"ns_coefficients", [](const OptimizerSettings& s) { return list_of(s.ns_coefficients); }, -kAny, kAny},
    {"match_rms_adamw", [](const OptimizerSettings& s) { return value_of(std::optional(s.match_rms_adamw)); },
     0, kAny},
    {"fallback_learning_rate", [](const OptimizerSettings& s) { return value_of(s.fallback_learning_rate); },
     0, kAny},
    {"fallback_betas", [](const OptimizerSettings& s) { return pair_of(s.fallback_betas); }, 0, kBelowOne},
    {"fallback_eps", [](const OptimizerSettings& s) { return value_of(s.fallback_eps); }, 0, kAny},
};

constexpr std::string_view kOfAll[] = {"learning_rate", "weight_decay", "maximize"};

bool is_word_of(std::string_view word, std::string_view list) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

bool uses(const update::OptimizerRule& rule, const SettingRow& row) {
  if (std::find(std::begin(kOfAll), std::end(kOfAll), row.name) != std::end(kOfAll)) return true;
  const OptimizerSettings defaults{.kind = rule.kind};
  const bool has_default = !row.get(defaults) && row.get(with_defaults(defaults));
  return has_default || is_word_of(row.name, rule.uses);
}

std::vector<double> numbers_in(const SettingValue& value) {
  if (const double* number = std::get_if<double>(&value)) return {*number};
  if (const auto* numbers = std::get_if<std::vector<double>>(&value)) return *numbers;
  return {};
}

// The name of a number in error messages; pairs have members.
std::string member(const SettingRow& row, std::size_t index) {
  if (!row.name.ends_with("betas")) return std::string(row.name);
  return fmt::format("{}.{}", row.name, index == 0 ? "first" : "second");
}

Status check_range(const SettingRow& row, const SettingValue& value) {
  const std::vector<double> numbers = numbers_in(value);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] >= row.least && numbers[i] < row.below) continue;
    return Error(ErrorCode::kUsage,
                 fmt::format("TrainerOptions::optimizer.{} is {}", member(row, i), numbers[i]))
        .with_remedy(row.below == kAny
                         ? fmt::format("Give a finite number of at least {}.", row.least)
                         : fmt::format("Give a number from {} to below {}.", row.least, row.below));
  }
  return {};
}

Error no_use(const SettingRow& row, std::string_view optimizer) {
  return Error(ErrorCode::kUsage, fmt::format("TrainerOptions::optimizer.{} is set, but {} has no use for it",
                                              row.name, optimizer))
      .with_remedy(fmt::format("Leave it out; it is for {}.", fmt::join(users_of(row.name), ", ")));
}

}  // namespace

std::vector<OptimizerSetting> used_settings(const OptimizerSettings& settings) {
  const OptimizerSettings whole = with_defaults(settings);
  const update::OptimizerRule& rule = update::rule_of(settings.kind);
  std::vector<OptimizerSetting> used;
  for (const SettingRow& row : kSettingRows) {
    const auto value = row.get(whole);
    if (row.name != "learning_rate" && value && uses(rule, row)) used.push_back({row.name, *value});
  }
  return used;
}

std::vector<std::string> users_of(std::string_view setting) {
  std::vector<std::string> users;
  for (const SettingRow& row : kSettingRows) {
    if (row.name != setting) continue;
    for (const update::OptimizerRule& rule : update::kernels_generic().rules) {
      if (uses(rule, row)) users.emplace_back(rule.name);
    }
  }
  return users;
}

Status check_settings(const OptimizerSettings& settings) {
  const update::OptimizerRule& rule = update::rule_of(settings.kind);
  const OptimizerSettings untouched{.kind = settings.kind};
  for (const SettingRow& row : kSettingRows) {
    const auto value = row.get(settings);
    if (!value || value == row.get(untouched)) continue;
    if (!uses(rule, row)) return no_use(row, rule.name);
    COHORT_RETURN_IF_ERROR(check_range(row, *value));
  }
  if (settings.fallback_learning_rate && learning_rate_of(settings) == 0) {
    return Error(ErrorCode::kUsage,
                 "TrainerOptions::optimizer.fallback_learning_rate is set, but its learning_rate is 0: there "
                 "is no curve to follow")
        .with_remedy("Set learning_rate, or leave fallback_learning_rate out.");
  }
  const std::size_t count = settings.ns_coefficients.size();
  if (count == 0 || count == 3) return {};
  return Error(ErrorCode::kUsage,
               fmt::format("TrainerOptions::optimizer.ns_coefficients has {} numbers, expected 3", count))
      .with_remedy("Give the factors of X, AX and A²X, or leave them out.");
}

}  // namespace cohort
