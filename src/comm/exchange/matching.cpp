#include "comm/exchange/matching.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <tuple>
#include <utility>

namespace cohort::comm {
namespace {

template <class Thing>
std::optional<Thing> take_first(std::map<MatchKey, std::deque<Thing>>& things, const MatchKey& key) {
  const auto found = things.find(key);
  if (found == things.end()) return std::nullopt;
  Thing first = std::move(found->second.front());
  found->second.pop_front();
  if (found->second.empty()) things.erase(found);
  return first;
}

// Takes the entries whose keys are wanted, in the order of keys.
template <class Thing, class IsWanted>
std::vector<Thing> take_all(std::map<MatchKey, std::deque<Thing>>& things, const IsWanted& is_wanted) {
  std::vector<Thing> taken;
  std::erase_if(things, [&](auto& entry) {
    if (!is_wanted(entry.first)) return false;
    std::move(entry.second.begin(), entry.second.end(), std::back_inserter(taken));
    return true;
  });
  return taken;
}

}  // namespace

Status fits(int from, const FrameHeader& message, const Receive& receive) {
  if (message.signature != receive.signature) {
    return Error(ErrorCode::kUsage,
                 fmt::format("member {} makes another call: its signature is {:016x}, ours {:016x}", from,
                             message.signature, receive.signature))
        .with_remedy("Make the same calls in the same order, with the same sizes and types, on every rank.");
  }
  if (message.size_bytes != receive.into.size()) {
    return Error(ErrorCode::kCorrupt, fmt::format("the message of member {} has {} bytes, expected {}", from,
                                                  message.size_bytes, receive.into.size()));
  }
  return {};
}

MatchKey MatchKey::of(int member, const FrameHeader& header) {
  return {member, header.channel, header.group, header.generation, header.number, header.tag};
}

void Matching::add(const MatchKey& key, Receive receive) {
  receives_[key].push_back(std::move(receive));
}

void Matching::add(KeptMessage message) {
  kept_bytes_[static_cast<std::size_t>(message.from)] += message.payload.size();
  kept_[MatchKey::of(message.from, message.header)].push_back(std::move(message));
}

bool Matching::call_for(const MatchKey& key) {
  const auto found = receives_.find(key);
  if (found == receives_.end()) return false;
  const auto first = std::find_if(found->second.begin(), found->second.end(),
                                  [](const Receive& receive) { return !receive.has_called; });
  if (first == found->second.end()) return false;
  return first->has_called = true;
}

std::optional<Receive> Matching::take_receive(const MatchKey& key) {
  return take_first(receives_, key);
}

std::optional<KeptMessage> Matching::take_message(const MatchKey& key) {
  std::optional<KeptMessage> message = take_first(kept_, key);
  if (message) let_go(*message);
  return message;
}

std::vector<Receive> Matching::take_receives_of(int member) {
  return take_all(receives_, [&](const MatchKey& key) { return key.member == member; });
}

std::vector<KeptMessage> Matching::take_messages_of(Channel channel, std::uint32_t group) {
  std::vector<KeptMessage> taken =
      take_all(kept_, [&](const MatchKey& key) { return key.channel == channel && key.group == group; });
  for (const KeptMessage& message : taken) let_go(message);
  std::sort(taken.begin(), taken.end(), [](const KeptMessage& a, const KeptMessage& b) {
    return std::tuple(a.from, a.header.sequence) < std::tuple(b.from, b.header.sequence);
  });
  return taken;
}

void Matching::forget(std::uint32_t group, std::uint32_t generation) {
  const auto is_over = [&](const MatchKey& key) {
    return key.group == group && key.generation <= generation;
  };
  take_all(receives_, is_over);
  for (const KeptMessage& message : take_all(kept_, is_over)) let_go(message);
}

void Matching::clear() {
  receives_.clear();
  kept_.clear();
  std::fill(kept_bytes_.begin(), kept_bytes_.end(), std::size_t{0});
}

void Matching::let_go(const KeptMessage& message) {
  kept_bytes_[static_cast<std::size_t>(message.from)] -= message.payload.size();
}

}  // namespace cohort::comm
