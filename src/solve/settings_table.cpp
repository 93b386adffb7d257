#include "solve/settings_table.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace cohort {
namespace {

constexpr double kMost = std::numeric_limits<double>::max();
constexpr double kAboveZero = std::numeric_limits<double>::denorm_min();

/// A line of the table of settings. `users` are words.
struct SolverSettingRow {
  std::string_view name;
  double (*get)(const SolverSettings&);
  double least;
  double most;
  std::string_view users;
};

constexpr std::string_view kAll = "lbfgs owlqn gauss-newton";
constexpr std::string_view kQuasiNewton = "lbfgs owlqn";

double number(auto value) {
  return static_cast<double>(value);
}

constexpr SolverSettingRow kSolverSettingRows[] = {
    {"history_size", [](const SolverSettings& s) { return number(s.history_size); }, 1, 1000, kQuasiNewton},
    {"max_iterations", [](const SolverSettings& s) { return number(s.max_iterations); }, 1, kMost, kAll},
    {"max_evaluations", [](const SolverSettings& s) { return number(s.max_evaluations); }, 1, kMost, kAll},
    {"line_search", [](const SolverSettings& s) { return number(s.line_search); }, 0, 1, kQuasiNewton},
    {"learning_rate", [](const SolverSettings& s) { return s.learning_rate; }, kAboveZero, kMost,
     kQuasiNewton},
    {"max_products", [](const SolverSettings& s) { return number(s.max_products); }, 1, kMost,
     "gauss-newton"},
    {"cg_tolerance", [](const SolverSettings& s) { return s.cg_tolerance; }, kAboveZero, 1, "gauss-newton"},
    {"damping", [](const SolverSettings& s) { return s.damping; }, kAboveZero, kMost, "gauss-newton"},
    {"tolerance_grad", [](const SolverSettings& s) { return s.tolerance_grad; }, 0, kMost, kAll},
    {"tolerance_change", [](const SolverSettings& s) { return s.tolerance_change; }, 0, kMost, kAll},
    {"l1", [](const SolverSettings& s) { return s.l1; }, 0, kMost, "owlqn"},
    {"weight_decay", [](const SolverSettings& s) { return s.weight_decay; }, 0, kMost, kAll},
};

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

bool is_user(std::string_view solver, const SolverSettingRow& row) {
  const std::vector<std::string> users = words_in(row.users);
  return std::find(users.begin(), users.end(), solver) != users.end();
}

}  // namespace

std::vector<SolverSetting> used_settings(const SolverSettings& settings) {
  std::vector<SolverSetting> used;
  for (const SolverSettingRow& row : kSolverSettingRows) {
    if (is_user(name(settings.kind), row)) used.push_back({row.name, row.get(settings)});
  }
  return used;
}

std::vector<std::string> solvers_using(std::string_view setting) {
  for (const SolverSettingRow& row : kSolverSettingRows) {
    if (row.name == setting) return words_in(row.users);
  }
  return {};
}

int num_vectors(const SolverSettings& settings) {
  if (settings.kind == SolverKind::kGaussNewton) return 9;
  const bool has_l1 = settings.kind == SolverKind::kOwlqn && settings.l1 > 0;
  return 2 * settings.history_size + (has_l1 ? 7 : 6);
}

Status check_settings(const SolverSettings& settings) {
  for (const SolverSettingRow& row : kSolverSettingRows) {
    const double value = row.get(settings);
    if (!is_user(name(settings.kind), row)) {
      if (value == row.get({})) continue;
      return Error(ErrorCode::kUsage, fmt::format("SolverSettings::{} is set, but {} has no use for it",
                                                  row.name, name(settings.kind)))
          .with_remedy(fmt::format("Leave it out; it is for {}.", fmt::join(words_in(row.users), ", ")));
    }
    if (value >= row.least && value <= row.most) continue;
    const std::string least = row.least == kAboveZero ? "above 0" : fmt::format("from {} on", row.least);
    const std::string most = row.most == kMost ? "" : fmt::format(", up to {}", row.most);
    return Error(ErrorCode::kUsage, fmt::format("SolverSettings::{} is {}", row.name, value))
        .with_remedy(fmt::format("Give a finite number {}{}.", least, most));
  }
  if (settings.learning_rate != SolverSettings{}.learning_rate && settings.line_search != LineSearch::kNone) {
    return Error(ErrorCode::kUsage,
                 "SolverSettings::learning_rate is set, but the line search finds the length of a step")
        .with_remedy("Leave it out, or set SolverSettings::line_search to LineSearch::kNone.");
  }
  return {};
}

}  // namespace cohort
