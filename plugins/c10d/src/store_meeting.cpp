#include "store_meeting.h"

#include "comm/group/rank_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::c10d_plugin {
namespace {

std::chrono::milliseconds time_until(TimePoint deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return std::max(left, std::chrono::milliseconds(1));  // 0 means no timeout
}

std::vector<std::string> keys_of(const net::Round& round) {
  std::vector<std::string> keys;
  for (int rank = 0; rank < round.world; ++rank) keys.push_back(fmt::format("{}/{}", round.name, rank));
  return keys;
}

}  // namespace

Result<std::vector<std::string>> StoreMeeting::gather(const net::Round& round, const std::string& card) {
  const std::vector<std::string> keys = keys_of(round);
  try {
    store_->set(keys[static_cast<std::size_t>(round.rank)], card);
    store_->wait(keys, time_until(round.deadline));
    std::vector<std::string> cards;
    for (const std::string& key : keys) cards.push_back(store_->get_to_str(key));
    return cards;
  } catch (const std::exception& failure) {
    return missing(keys, round, failure.what());
  }
}

// The store's timeout does not tell which keys are missing: check each.
Error StoreMeeting::missing(const std::vector<std::string>& keys, const net::Round& round,
                            const std::string& why) {
  std::vector<int> ranks;
  try {
    for (int rank = 0; rank < round.world; ++rank) {
      if (!store_->check({keys[static_cast<std::size_t>(rank)]})) ranks.push_back(rank);
    }
  } catch (const std::exception& failure) {
    return Error(ErrorCode::kIo, fmt::format("the store of the process group: {}", failure.what()));
  }
  if (ranks.empty()) return Error(ErrorCode::kIo, fmt::format("the store of the process group: {}", why));
  return Error(ErrorCode::kTimedOut, comm::ranks_have(ranks) + " not come")
      .with_remedy(
          "Look at the last output of these ranks; or pass a longer timeout to init_process_group or "
          "new_group.");
}

}  // namespace cohort::c10d_plugin
