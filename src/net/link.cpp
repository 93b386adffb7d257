#include "net/link.h"

#include <utility>

namespace cohort::net {

using comm::FrameHeader;

Link::Link(Station& station, int other) : station_(station), other_(other), lane_(station, other, 0, *this) {}

void Link::send(const FrameHeader& header, std::span<const std::byte> payload, Sent sent) {
  if (loss_) {
    refused_.push_back(std::move(sent));
  } else {
    lane_.out().add(header, payload, std::move(sent));
  }
}

void Link::withdraw(std::uint32_t group, std::uint32_t generation) {
  lane_.out().take_back(group, generation);
}

void Link::give_up(const Error& why) {
  if (loss_) return;
  lose(why);
  owes_farewell_ = true;
}

void Link::lose(const Error& why) {
  if (!loss_) loss_ = Error(ErrorCode::kPeerLost, why.text());
  is_lost_.store(true, std::memory_order_release);
}

void Link::leave() {
  lane_.out().take_back_all();
  refused_.clear();
  if (!loss_) lane_.out().add({.channel = comm::Channel::kFarewell}, {}, {});
}

void Link::drop() {
  lane_.hang_up();
  refused_.clear();
  (void)lane_.out().abandon();
  (void)lane_.out().take_ready();
}

bool Link::advance() {
  bool moved = false;
  bool is_over = false;
  if (!is_lost() || owes_farewell_) moved = lane_.advance();
  {
    const std::lock_guard lock(station_.mutex);
    if (lane_.end()) lose(*lane_.end());
    if (owes_farewell_) pay_farewell();
    is_over = loss_.has_value();
    if (is_over && !owes_farewell_) lane_.hang_up();
  }
  moved = call_back() || moved;
  return (is_over && report()) || moved;
}

// To whom we connect, we do it once more; who connects to us hears it when it does.
void Link::pay_farewell() {
  const bool is_reachable = lane_.is_connected() || other_ < station_.facts.member;
  if (lane_.is_connected()) lane_.say_farewell();
  owes_farewell_ = is_reachable && !lane_.is_connected() && !lane_.end();
}

TimePoint Link::wanted_at() const {
  return is_reported_ && !owes_farewell_ ? TimePoint::max() : lane_.wanted_at();
}

std::span<std::byte> Link::place(const FrameHeader& header) {
  return is_lost() ? std::span<std::byte>() : station_.sink->place(other_, header);
}

// What the other one had before it sent this is called back before.
void Link::arrived(const FrameHeader& header) {
  call_back();
  if (!is_lost()) station_.sink->arrived(other_, header);
}

void Link::heard() {
  if (!is_lost()) station_.sink->heard(other_);
}

void Link::taken_back(const FrameHeader& header) {
  if (!is_lost()) station_.sink->taken_back(other_, header);
}

bool Link::call_back() {
  std::vector<Sent> ready;
  {
    const std::lock_guard lock(station_.mutex);
    ready = lane_.out().take_ready();
  }
  for (const Sent& sent : ready) sent({});
  return !ready.empty();
}

bool Link::report() {
  std::vector<Sent> failed;
  {
    const std::lock_guard lock(station_.mutex);
    failed = lane_.out().abandon();
    for (Sent& sent : std::exchange(refused_, {})) failed.push_back(std::move(sent));
    if (is_reported_ && failed.empty()) return false;
  }
  for (const Sent& sent : failed) {
    if (sent) sent(*loss_);
  }
  if (!std::exchange(is_reported_, true)) station_.sink->lost(other_, *loss_);
  return true;
}

}  // namespace cohort::net
