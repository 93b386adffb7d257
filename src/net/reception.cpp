#include "net/reception.h"

#include <algorithm>

namespace cohort::net {
namespace {

constexpr std::size_t kMostGuests = 128;

}  // namespace

Reception::Reception(Station& station, Descriptor listener, ListenerGreeting::Judge judge, Admit admit)
    : station_(station),
      judge_(std::move(judge)),
      admit_(std::move(admit)),
      listener_(std::move(listener)),
      watch_(listener_.is_open() ? station.reactor.watch(listener_.number()) : nullptr) {}

bool Reception::advance() {
  const bool moved = accept_guests();
  const auto num_done = std::erase_if(guests_, [this](Guest& guest) { return is_done(guest); });
  return moved || num_done > 0;
}

TimePoint Reception::wanted_at() const {
  TimePoint wanted = TimePoint::max();
  for (const Guest& guest : guests_) wanted = std::min(wanted, guest.until);
  return wanted;
}

void Reception::close() {
  guests_.clear();
  watch_.reset();
  listener_ = Descriptor();
}

bool Reception::accept_guests() {
  bool moved = false;
  while (watch_ && watch_->is_readable()) {
    auto socket = accept_one(listener_);
    if (!socket || !socket->is_open()) {
      watch_->wait_for_read();
      break;
    }
    moved = true;
    if (guests_.size() >= kMostGuests) guests_.erase(guests_.begin());  // the oldest
    receive_guest(std::move(*socket));
  }
  return moved;
}

void Reception::receive_guest(Descriptor socket) {
  Nonce nonce;
  value_or_throw(fill_random(nonce));
  guests_.push_back({.connection = std::make_unique<Connection>(std::move(socket), station_.reactor),
                     .greeting = std::make_unique<ListenerGreeting>(station_.facts.key, nonce, judge_),
                     .until = deadline_after(station_.clock.now(), station_.options.greeting_limit)});
}

// True once the handshake has succeeded or failed.
bool Reception::is_done(Guest& guest) {
  if (station_.clock.now() >= guest.until) return true;
  if (!guest.connection->watch->is_readable()) return false;
  const auto done = guest.greeting->advance(*guest.connection->stream);
  if (!done) return true;
  if (!*done) {
    guest.connection->watch->wait_for_read();
    return false;
  }
  if (guest.greeting->welcome().verdict == Welcome::Verdict::kAccepted) {
    admit_(*guest.greeting, std::move(guest.connection));
  }
  return true;
}

}  // namespace cohort::net
