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
  if (options.num_lanes == 1) return std::numeric_limits<std::size_t>::max();
  return std::max(options.stripe_from, static_cast<std::size_t>(options.num_lanes));
}

std::vector<Link::Sent> of_all(const std::vector<OutStream*>& outs,
                               std::vector<Link::Sent> (OutStream::*take)()) {
  std::vector<Link::Sent> all = (outs.front()->*take)();
  for (std::size_t lane = 1; lane < outs.size(); ++lane) {
    for (Link::Sent& sent : (outs[lane]->*take)()) all.push_back(std::move(sent));
  }
  return all;
}

}  // namespace

Link::Link(Station& station, int other)
    : station_(station),
      other_(other),
      stripe_from_(stripe_from(station.options)),
      assembly_(static_cast<std::size_t>(station.options.num_lanes), *this) {
  LaneOwner& owner = *this;
  for (int lane = 0; lane < station.options.num_lanes; ++lane) {
    lanes_.push_back(std::make_unique<Lane>(station, other, static_cast<std::uint16_t>(lane), owner));
    outs_.push_back(&lanes_.back()->out());
  }
}

void Link::send(const FrameHeader& header, std::span<const std::byte> payload, Sent sent) {
  if (loss_) {
    refused_.push_back(std::move(sent));
  } else if (payload.size() >= stripe_from_ && station_.striping == Striping::kAllLanes) {
    add_striped(outs_, ++num_striped_, header, payload, std::move(sent));
  } else {
    outs_.front()->add(header, payload, std::move(sent));
  }
}

void Link::withdraw(std::uint32_t group, std::uint32_t generation) {
  for (OutStream* out : outs_) out->take_back(group, generation);
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
  for (OutStream* out : outs_) out->take_back_all();
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
  for (const auto& lane : lanes_) lane->hang_up();
}

bool Link::is_through() const {
  return is_lost() ||
         std::all_of(lanes_.begin(), lanes_.end(), [](const auto& lane) { return lane->is_through(); });
}

bool Link::is_connected() const {
  return std::any_of(lanes_.begin(), lanes_.end(), [](const auto& lane) { return lane->is_connected(); });
}

bool Link::advance() {
  bool moved = false;
  bool is_over = false;
  if (!is_lost() || owes_farewell_) moved = advance_lanes();
  {
    const std::lock_guard lock(station_.mutex);
    if (owes_farewell_) pay_farewell();
    is_over = loss_.has_value();
    if (is_over && !owes_farewell_) hang_up();
  }
  moved = call_back() || moved;
  return (is_over && report()) || moved;
}

// The end of the first lane comes behind everything else. That of another may be seen while messages that
// were sent before are still to be read: it counts when nothing comes any more.
bool Link::advance_lanes() {
  bool moved = false;
  for (const auto& lane : lanes_) moved = lane->advance() || moved;
  if (!lanes_.front()->is_held()) hold_until_.reset();
  const auto last = moved || is_holding() ? lanes_.begin() + 1 : lanes_.end();
  const auto ended =
      std::find_if(lanes_.begin(), last, [](const auto& lane) { return lane->end().has_value(); });
  if (ended != last) {
    const std::lock_guard lock(station_.mutex);
    lose(*(*ended)->end());
  }
  return moved;
}

// To whom we connect, we do it once more; who connects to us hears it when it does. By any lane: in the first
// it may be behind a message that waits for its stripes.
void Link::pay_farewell() {
  const bool is_reachable = other_ < station_.facts.member && !lanes_.front()->end();
  owes_farewell_ = is_reachable && !is_connected();
  for (const auto& lane : lanes_) lane->say_farewell();
}

TimePoint Link::wanted_at() const {
  TimePoint wanted = TimePoint::max();
  if (is_reported_ && !owes_farewell_) return wanted;
  for (const auto& lane : lanes_) wanted = std::min(wanted, lane->wanted_at());
  return is_holding() ? std::min(wanted, *hold_until_) : wanted;
}

// ----- what lanes bring -----

void Link::heard() {
  if (!is_lost()) station_.sink->heard(other_);
}

// Receipts go by the first lane, as all messages do: who hears an answer knows what was here before it.
void Link::send_receipt(std::size_t lane, std::uint64_t num_taken) {
  const std::lock_guard lock(station_.mutex);
  outs_.front()->add({.channel = comm::Channel::kReceipt, .number = num_taken, .tag = lane}, {}, {});
}

Status Link::receipt_came(const FrameHeader& receipt) {
  if (receipt.tag >= outs_.size()) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("a receipt is for lane {} of {}", receipt.tag, outs_.size()));
  }
  const std::lock_guard lock(station_.mutex);
  return outs_[receipt.tag]->has_taken(receipt.number);
}

// ----- whole messages -----

// Of what nobody waits for a copy is made, and another one when somebody does. Often it is only that the last
// receipt came just now, and who hears of it wants this message next.
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

std::span<std::byte> Link::place(const FrameHeader& header) {
  return is_lost() ? std::span<std::byte>() : station_.sink->place(other_, header);
}

// What the other one had before it sent this is called back before.
void Link::arrived(const FrameHeader& header) {
  call_back();
  if (!is_lost()) station_.sink->arrived(other_, header);
}

void Link::taken_back(const FrameHeader& header) {
  if (!is_lost()) station_.sink->taken_back(other_, header);
}

bool Link::call_back() {
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
