#include "comm/exchange/send_window.h"

#include <algorithm>
#include <utility>

namespace cohort::comm {

// Messages between two members stay in order. When the answer to an offer comes, all messages that were sent
// before the offer have arrived, or were withdrawn; those that the receiver keeps are not part of the room
// that it tells. So no more than the messages sent since the offer can take from this room.
bool SendWindow::admits(const FrameHeader& header) {
  if (is_over_) return true;
  const bool fits = header.size_bytes == 0 || num_sent_ - num_judged_ + header.size_bytes <= room_bytes_;
  const auto is_equal = [key = MatchKey::of(0, header)](const auto& held) {
    return MatchKey::of(0, held.second.header) == key;
  };
  if (!fits || std::any_of(held_.begin(), held_.end(), is_equal)) return false;
  num_sent_ += header.size_bytes;
  return true;
}

MessageOffer SendWindow::hold(Send send) {
  const MessageOffer offer = {++num_tickets_, num_sent_, send.header};
  held_.emplace(offer.ticket, std::move(send));
  is_asked_ = true;
  return offer;
}

std::optional<MessageOffer> SendWindow::question() {
  if (is_asked_ || is_over_ || num_sent_ - num_judged_ <= room_bytes_ / 2) return std::nullopt;
  is_asked_ = true;
  return MessageOffer{.num_sent = num_sent_};
}

std::optional<SendWindow::Send> SendWindow::answered(const OfferAnswer& answer) {
  num_judged_ = std::min(answer.num_sent, num_sent_);
  room_bytes_ = answer.room_bytes;
  is_asked_ = false;
  const auto held = held_.find(answer.ticket);
  if (held == held_.end() || answer.verdict == OfferAnswer::Verdict::kLater) return std::nullopt;
  Send send = std::move(held->second);
  held_.erase(held);
  return send;
}

std::vector<MessageOffer> SendWindow::forget(std::uint32_t group, std::uint32_t generation) {
  std::vector<MessageOffer> ended;
  std::erase_if(held_, [&](const auto& held) {
    if (!held.second.header.is_of(group, generation)) return false;
    ended.push_back({.ticket = held.first, .num_sent = num_sent_});
    return true;
  });
  return ended;
}

std::vector<SendWindow::Send> SendWindow::end() {
  is_over_ = true;
  std::vector<Send> sends;
  for (auto& [ticket, send] : std::exchange(held_, {})) sends.push_back(std::move(send));
  return sends;
}

}  // namespace cohort::comm
