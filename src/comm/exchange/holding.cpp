#include "base/check.h"
#include "comm/exchange/exchange.h"

#include <algorithm>
#include <utility>

// Sends, and the messages that are held back until the other member has a receive for them.

namespace cohort::comm {

void Exchange::send(int to, FrameHeader header, std::span<const std::byte> payload, Done done) {
  COHORT_CHECK(to >= 0 && to < num_members(), "there is no member {}", to);
  header.size_bytes = payload.size();
  const std::lock_guard lock(send_mutex_);
  if (!can_be_held(header.channel)) return post(to, header, payload, std::move(done));
  if (!window(to).admits(header)) {
    return post(to, Channel::kOffer, encode(window(to).hold({header, payload, std::move(done)})));
  }
  post(to, header, payload, std::move(done));
  if (const std::optional<MessageOffer> question = window(to).question()) {
    post(to, Channel::kOffer, encode(*question));
  }
}

// With send_mutex_ held.
void Exchange::post(int to, FrameHeader header, std::span<const std::byte> payload, Done done) {
  header.sequence = ++peer(to).num_sent;
  transport_->send(to, header, payload, std::move(done));
}

// Offers and answers belong to no group, so that no cancel() withdraws them. With send_mutex_ held.
void Exchange::post(int to, Channel channel, std::vector<std::byte> payload) {
  const auto kept = std::make_shared<const std::vector<std::byte>>(std::move(payload));
  post(to, {.channel = channel, .size_bytes = kept->size()}, *kept, [kept](const Status&) {});
}

void Exchange::forget_held(std::uint32_t group, std::uint32_t generation) {
  const std::lock_guard lock(send_mutex_);
  for (int to = 0; to < num_members(); ++to) {
    for (const MessageOffer& ended : window(to).forget(group, generation)) {
      post(to, Channel::kOffer, encode(ended));
    }
  }
}

void Exchange::fail_held(int member, const Error& why) {
  std::vector<SendWindow::Send> held;
  {
    const std::lock_guard lock(send_mutex_);
    held = window(member).end();
  }
  for (const SendWindow::Send& send : held) {
    if (send.done) send.done(why);
  }
}

// ----- offers and answers that come in -----

Status Exchange::read(int from, const FrameHeader& header, std::span<const std::byte> payload) {
  if (header.channel == Channel::kOffer) {
    COHORT_ASSIGN_OR_RETURN(const MessageOffer offer, decode_offer(payload));
    hear(from, offer);
  } else {
    COHORT_ASSIGN_OR_RETURN(const OfferAnswer answer, decode_offer_answer(payload));
    hear(from, answer);
  }
  return {};
}

void Exchange::hear(int from, const MessageOffer& offer) {
  OfferAnswer::Verdict verdict = OfferAnswer::Verdict::kLater;
  {
    const std::lock_guard lock(mutex_);
    peer(from).num_offered = offer.num_sent;
    const OpenOffers::Ticket ticket = {from, offer.ticket};
    if (!offer.message && offer.ticket != 0) return offers_.remove(ticket);
    if (offer.message) verdict = judge(from, offer);
  }
  call_for({from, offer.ticket}, verdict);
}

// With mutex_ held.
OfferAnswer::Verdict Exchange::judge(int from, const MessageOffer& offer) {
  const FrameHeader& message = *offer.message;
  const MatchKey key = MatchKey::of(from, message);
  if (is_stale(message)) return OfferAnswer::Verdict::kDrop;
  if (handlers_.contains({message.channel, message.group}) || matching_.call_for(key)) {
    return OfferAnswer::Verdict::kSend;
  }
  offers_.add(key, offer.ticket);
  return OfferAnswer::Verdict::kLater;
}

void Exchange::call_for(const OpenOffers::Ticket& ticket, OfferAnswer::Verdict verdict) {
  OfferAnswer answer = {.ticket = ticket.number, .verdict = verdict};
  {
    const std::lock_guard lock(mutex_);
    const std::size_t share = options_.unexpected_cap_bytes / 2;
    answer.num_sent = peer(ticket.member).num_offered;
    answer.room_bytes = share - std::min(share, matching_.kept_bytes(ticket.member));
  }
  const std::lock_guard lock(send_mutex_);
  post(ticket.member, Channel::kCallFor, encode(answer));
}

// A message that was cancelled meanwhile is not held any more: the answer then only tells the room.
void Exchange::hear(int from, const OfferAnswer& answer) {
  std::unique_lock lock(send_mutex_);
  std::optional<SendWindow::Send> send = window(from).answered(answer);
  if (!send) return;
  if (answer.verdict == OfferAnswer::Verdict::kSend) {
    return post(from, send->header, send->payload, std::move(send->done));
  }
  lock.unlock();
  if (send->done) send->done({});
}

}  // namespace cohort::comm
