#include "checkpoint/retention.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace cohort::checkpoint {
namespace {

using Order = bool (*)(const Kept&, const Kept&);

// The names of the first `count` snapshots in this order.
void keep_first(std::vector<Kept> snapshots, int count, Order order, std::set<std::string>& names) {
  std::sort(snapshots.begin(), snapshots.end(), order);
  const auto most = static_cast<std::size_t>(std::max(count, 0));
  for (std::size_t i = 0; i < std::min(most, snapshots.size()); ++i) names.insert(snapshots[i].name);
}

std::vector<Kept> with_loss(std::span<const Kept> snapshots) {
  std::vector<Kept> some;
  for (const Kept& each : snapshots) {
    if (each.loss && std::isfinite(*each.loss)) some.push_back(each);
  }
  return some;
}

}  // namespace

std::vector<std::string> expendable(std::span<const Kept> snapshots, const Retention& retention) {
  std::set<std::string> kept;
  keep_first(
      {snapshots.begin(), snapshots.end()}, std::max(retention.last, 1),
      [](const Kept& a, const Kept& b) { return a.step > b.step; }, kept);
  // The oldest of several snapshots with the same loss is nearest to the evaluation.
  keep_first(
      with_loss(snapshots), retention.best,
      [](const Kept& a, const Kept& b) { return std::pair(*a.loss, a.step) < std::pair(*b.loss, b.step); },
      kept);
  for (const Kept& each : snapshots) {
    if (retention.every.value_or(0) > 0 && each.step % *retention.every == 0) kept.insert(each.name);
  }
  for (const Kept& each : snapshots) {
    if (kept.contains(each.name) && !each.base.empty()) kept.insert(each.base);
  }
  std::vector<Kept> rest;
  std::copy_if(snapshots.begin(), snapshots.end(), std::back_inserter(rest),
               [&](const Kept& each) { return !kept.contains(each.name); });
  std::sort(rest.begin(), rest.end(), [](const Kept& a, const Kept& b) { return a.step > b.step; });
  std::vector<std::string> names;
  for (const Kept& each : rest) names.push_back(each.name);
  return names;
}

}  // namespace cohort::checkpoint
