// The part of Group that matches receives from any rank.
#include "comm/message_passing/group.h"
#include "comm/message_passing/message_flight.h"

namespace cohort::comm {

// After the first receive from any rank under a tag, all receives under that tag go through its matcher, in
// order.
std::optional<std::uint64_t> Group::matcher_for(const Call& call) {
  if (call.operation != Operation::kReceive) return std::nullopt;
  const auto known = matcher_of_tag_.find(call.tag);
  if (known != matcher_of_tag_.end()) return known->second;
  if (call.peer != kAnyRank) return std::nullopt;
  std::vector<std::uint64_t> next;
  for (int rank = 0; rank < facts_.world; ++rank) {
    next.push_back(num_messages_[{Operation::kReceive, rank, call.tag}] + 1);
  }
  const std::uint64_t id = next_id_++;
  matcher_of_tag_.emplace(call.tag, id);
  inbox_->post(FromAnyBegan{id, call.tag, std::move(next)});
  return id;
}

void Group::handle(FromAnyBegan& began) {
  const auto at = matchers_.try_emplace(began.matcher, began.matcher, began.tag, std::move(began.next)).first;
  at->second.receive_from_all(line_);
}

void Group::take_description(AnyRankMatcher& matcher, const Landed& landed) {
  if (landed.outcome) {
    matcher.add_announced(landed.ticket);
    return match(matcher);
  }
  const Error& why = landed.outcome.error();
  const bool is_lost = why.code() == ErrorCode::kPeerLost;
  if (is_lost) mark_gone(landed.ticket, {.why = why});
  for (const std::uint64_t id : matcher.waiting()) {
    Flight& flight = *flights_.at(id);
    if (is_lost && flight.waits_for(landed.ticket)) return fail(flight, loss_text());
    if (is_lost && waits_for_no_rank(flight)) suspect(flight, loss_text());
    if (!is_lost && (flight.waits_for(landed.ticket) || flight.waits_for(kAnyRank))) suspect(flight, why);
  }
}

void Group::match(AnyRankMatcher& matcher) {
  std::deque<std::uint64_t>& waiting = matcher.waiting();
  for (auto at = waiting.begin(); at != waiting.end();) {
    auto& flight = static_cast<MessageFlight&>(*flights_.at(*at));
    const std::optional<AnyRankMatcher::Announced> announced =
        matcher.take(flight.peer_of(kNumbersPart), line_);
    if (!announced) {
      ++at;
      continue;
    }
    at = waiting.erase(at);
    if (Status fine = flight.begins(line_, *announced); !fine) return fail(flight, fine.error());
  }
}

}  // namespace cohort::comm
