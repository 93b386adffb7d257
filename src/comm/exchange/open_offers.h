#pragma once

#include "comm/exchange/matching.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace cohort::comm {

/// The messages that other members hold back for this one, and that no receive is waiting for yet. Among
/// equal keys, the first is taken first.
///
/// Threads: one at a time.
class OpenOffers {
 public:
  struct Ticket {
    int member = 0;
    std::uint64_t number = 0;
  };

  void add(const MatchKey& key, std::uint64_t ticket) { tickets_[key].push_back(ticket); }
  std::optional<Ticket> take(const MatchKey& key);
  /// Takes all whose key is wanted.
  template <class IsWanted>
  std::vector<Ticket> take_all(const IsWanted& is_wanted);
  void remove(const Ticket& ticket);

 private:
  std::map<MatchKey, std::deque<std::uint64_t>> tickets_;
};

template <class IsWanted>
std::vector<OpenOffers::Ticket> OpenOffers::take_all(const IsWanted& is_wanted) {
  std::vector<Ticket> taken;
  std::erase_if(tickets_, [&](const auto& entry) {
    if (!is_wanted(entry.first)) return false;
    for (const std::uint64_t number : entry.second) taken.push_back({entry.first.member, number});
    return true;
  });
  return taken;
}

inline std::optional<OpenOffers::Ticket> OpenOffers::take(const MatchKey& key) {
  const auto found = tickets_.find(key);
  if (found == tickets_.end()) return std::nullopt;
  const Ticket first = {key.member, found->second.front()};
  found->second.pop_front();
  if (found->second.empty()) tickets_.erase(found);
  return first;
}

inline void OpenOffers::remove(const Ticket& ticket) {
  for (auto& [key, numbers] : tickets_) {
    if (key.member == ticket.member) std::erase(numbers, ticket.number);
  }
  std::erase_if(tickets_, [](const auto& entry) { return entry.second.empty(); });
}

}  // namespace cohort::comm
