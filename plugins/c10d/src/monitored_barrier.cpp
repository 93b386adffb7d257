#include "monitored_barrier.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::c10d_plugin {
namespace {

std::string word_of(std::uint64_t number) {
  return fmt::format("monitored/{}/all", number);
}

}  // namespace

void MonitoredBarrier::pass() const {
  if (limit == std::chrono::milliseconds::zero()) {
    C10_THROW_ERROR(DistBackendError, fmt::format("Rank {} timed out in monitoredBarrier", rank));
  }
  const TimePoint deadline = std::chrono::steady_clock::now() + limit;
  if (rank == 0) return wait_for_others(deadline);
  wait_for_word(deadline);
}

void MonitoredBarrier::wait_for_word(TimePoint deadline) const {
  store.set(key_of(rank), "here");
  const bool has_word = has_come(word_of(number), deadline);
  store.deleteKey(key_of(rank));
  if (!has_word && !store.check({word_of(number)})) fail("Rank 0, or one that it waits for,");
}

void MonitoredBarrier::wait_for_others(TimePoint deadline) const {
  const std::string missing = missing_ranks(deadline);
  if (!missing.empty()) fail((names_all ? "Ranks " : "Rank ") + missing);
  store.set(word_of(number), "here");
  if (number > 0) store.deleteKey(word_of(number - 1));  // all ranks have passed that one
}

std::string MonitoredBarrier::missing_ranks(TimePoint deadline) const {
  std::string missing;
  for (int other = 1; other < world; ++other) {
    if (has_come(key_of(other), deadline)) continue;
    missing += fmt::format("{}{}", missing.empty() ? "" : ", ", other);
    if (!names_all) break;
  }
  return missing;
}

std::string MonitoredBarrier::key_of(int of_rank) const {
  return fmt::format("monitored/{}/{}", number, of_rank);
}

bool MonitoredBarrier::has_come(const std::string& key, TimePoint deadline) const {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  try {
    store.wait({key}, std::max(left, std::chrono::milliseconds(1)));
    return true;
  } catch (const std::exception&) {
    return store.check({key});
  }
}

void MonitoredBarrier::fail(const std::string& who) const {
  C10_THROW_ERROR(DistBackendError, fmt::format("[Rank {}]: {} failed to pass monitoredBarrier in {} ms",
                                                rank, who, limit.count()));
}

}  // namespace cohort::c10d_plugin
