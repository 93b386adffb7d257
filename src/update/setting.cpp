#include "update/setting.h"

#include "base/nearest.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

namespace cohort::update {

Status check_setting(std::string_view key, double value, Least least) {
  if (std::isfinite(value) && (least == Least::kZero ? value >= 0 : value > 0)) return {};
  return Error(ErrorCode::kUsage, fmt::format("update.{} = {} is not a number {}", key, value,
                                              least == Least::kZero ? "of at least 0" : "above 0"));
}

Status check_share(std::string_view key, double value) {
  if (value >= 0 && value < 1) return {};
  return Error(ErrorCode::kUsage,
               fmt::format("update.{} = {} is not a number from 0 up to but not including 1", key, value));
}

Result<std::size_t> chosen(std::string_view key, std::string_view value,
                           std::span<const std::string_view> names) {
  const auto found = std::find(names.begin(), names.end(), value);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const auto meant = nearest(value, std::vector<std::string>(names.begin(), names.end()));
  return Error(ErrorCode::kUsage, fmt::format("update.{} = '{}' is unknown", key, value))
      .with_remedy(meant ? fmt::format("Did you mean '{}'?", *meant)
                         : fmt::format("Take one of: {}.", fmt::join(names, ", ")));
}

}  // namespace cohort::update
