#include "net/link.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace cohort::net {

using comm::FrameHeader;

namespace {

constexpr std::size_t kWorthHolding = std::size_t{64} << 10;
constexpr std::chrono::milliseconds kLongestHold(1);

std::size_t stripe_from(const TcpOptions& options) {
  if (options.num_rails == 1) return std::numeric_limits<std::size_t>::max();
  return std::max(options.stripe_from, static_cast<std::size_t>(options.num_rails));
}

std::vector<Link::Sent> of_all(const std::vector<OutStream*>& outs,
                               std::vector<Link::Sent> (OutStream::*take)()) {
  std::vector<Link::Sent> all = (outs.front()->*take)();
  for (std::size_t rail = 1; rail < outs.size(); ++rail) {
    for (Link::Sent& sent : (outs[rail]->*take)()) all.push_back(std::move(sent));
  }
  return all;
}

}  // namespace

Link::Link(Station& station, int other)
    : station_(station),
      other_(other),
      stripe_from_(stripe_from(station.options)),
      assembly_(static_cast<std::size_t>(station.options.num_rails), *this) {
  for (int rail = 0; rail < station.options.num_rails; ++rail) {
    rails_.push_back(std::make_unique<Rail>(station, other, static_cast<std::uint16_t>(rail), *this));
    outs_.push_back(&rails_.back()->out());
  }
}

void Link::send(const FrameHeader& header, std::span<const std::byte> payload, Sent sent) {
  if (loss_) {
    refused_.push_back(std::move(sent));
  } else if (payload.size() >= stripe_from_ && station_.striping == Striping::kAllRails) {
    add_striped(outs_, ++num_striped_, header, payload, std::move(sent));
  } else {
    outs_.front()->add(header, payload, std::move(sent));
  }
}

void Link::withdraw(std::uint32_t group, std::uint32_t generation) {
  for (OutStream* out : outs_) out->withdraw(group, generation);
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
  for (OutStream* out : outs_) out->withdraw_all();
  refused_.clear();
  if (!loss_) outs_.front()->add({.channel = comm::Channel::kFarewell}, {}, {});
}

void Link::drop() {
  hang_up();
  refused_.clear();
  (void)of_all(outs_, &OutStream::abandon);
  (void)of_all(outs_, &OutStream::take_ready);
}

void Link::hang_up() {
  for (const auto& rail : rails_) rail->hang_up();
}

bool Link::is_through() const {
  return is_lost() ||
         std::all_of(rails_.begin(), rails_.end(), [](const auto& rail) { return rail->is_through(); });
}

bool Link::is_connected() const {
  return std::any_of(rails_.begin(), rails_.end(), [](const auto& rail) { return rail->is_connected(); });
}

bool Link::advance() {
  bool moved = false;
  bool is_over = false;
  if (!is_lost() || owes_farewell_) moved = advance_rails();
  {
    const std::lock_guard lock(station_.mutex);
    if (owes_farewell_) pay_farewell();
    is_over = loss_.has_value();
    if (is_over && !owes_farewell_) hang_up();
  }
  moved = run_callbacks() || moved;
  return (is_over && report()) || moved;
}

// Rail 0 ends after its last message. Another rail may end while rail 0 still has messages to read that were
// sent earlier: its end counts only once nothing more comes.
bool Link::advance_rails() {
  bool moved = false;
  for (const auto& rail : rails_) moved = rail->advance() || moved;
  if (!rails_.front()->is_held()) hold_until_.reset();
  const auto last = moved || is_holding() ? rails_.begin() + 1 : rails_.end();
  const auto ended =
      std::find_if(rails_.begin(), last, [](const auto& rail) { return rail->end().has_value(); });
  if (ended != last) {
    const std::lock_guard lock(station_.mutex);
    lose(*(*ended)->end());
  }
  return moved;
}

// A peer that this member connects to is connected once more for the farewell; a peer that connects to this
// member hears it when it reconnects. All rails carry it, as on rail 0 it may queue behind a message that
// waits for stripes.
void Link::pay_farewell() {
  const bool is_reachable = other_ < station_.facts.member && !rails_.front()->end();
  owes_farewell_ = is_reachable && !is_connected();
  for (const auto& rail : rails_) rail->say_farewell();
}

TimePoint Link::wanted_at() const {
  TimePoint wanted = TimePoint::max();
  if (is_reported_ && !owes_farewell_) return wanted;
  for (const auto& rail : rails_) wanted = std::min(wanted, rail->wanted_at());
  return is_holding() ? std::min(wanted, *hold_until_) : wanted;
}

// ----- rails -----

void Link::heard() {
  if (!is_lost()) station_.sink->heard(other_);
}

// Acknowledgements of all rails go by rail 0, which also carries the answers: an acknowledgement is never
// overtaken by the answer to the message.
void Link::send_acknowledgement(std::size_t rail, std::uint64_t num_taken) {
  const std::lock_guard lock(station_.mutex);
  outs_.front()->add({.channel = comm::Channel::kReceipt, .number = num_taken, .tag = rail}, {}, {});
}

Status Link::acknowledgement_came(const FrameHeader& header) {
  if (header.tag >= outs_.size()) {
    return Error(ErrorCode::kCorrupt, fmt::format("acknowledgement: field tag is rail {}, expected 0 … {}",
                                                  header.tag, outs_.size() - 1));
  }
  const std::lock_guard lock(station_.mutex);
  return outs_[header.tag]->has_taken(header.number);
}

// ----- whole messages -----

// A message that no receive is waiting for is copied twice: into a buffer now, and from there when the
// receive comes. Often the receive is only microseconds away, as its thread has just been told about the
// message before: a long message is held back for a moment.
Result<bool> Link::admit(const FrameHeader& header) {
  const bool is_long = header.size_bytes > kWorthHolding && comm::is_for_users(header.channel);
  if (!is_long || is_lost() || station_.sink->is_expected(other_, header)) {
    hold_until_.reset();
    return true;
  }
  const TimePoint now = station_.clock.now();
  if (!hold_until_) hold_until_ = now + kLongestHold;
  if (now < *hold_until_) return false;
  hold_until_.reset();
  return true;
}

std::span<std::byte> Link::buffer_for(const FrameHeader& header) {
  return is_lost() ? std::span<std::byte>() : station_.sink->buffer_for(other_, header);
}

// Callbacks of messages that the peer acknowledged ahead of this one run first.
void Link::arrived(const FrameHeader& header) {
  run_callbacks();
  if (!is_lost()) station_.sink->arrived(other_, header);
}

void Link::withdrawn(const FrameHeader& header) {
  if (!is_lost()) station_.sink->withdrawn(other_, header);
}

bool Link::run_callbacks() {
  std::vector<Sent> ready;
  {
    const std::lock_guard lock(station_.mutex);
    ready = of_all(outs_, &OutStream::take_ready);
  }
  for (const Sent& sent : ready) sent({});
  return !ready.empty();
}

bool Link::report() {
  std::vector<Sent> failed;
  {
    const std::lock_guard lock(station_.mutex);
    failed = of_all(outs_, &OutStream::abandon);
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
