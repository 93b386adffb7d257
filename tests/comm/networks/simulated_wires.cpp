#include "comm/networks/simulated_wires.h"

#include "base/check.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace cohort::comm {
namespace {

constexpr std::uint64_t kWireStream = 0x6c696e6b73;
constexpr int kRounds = 64;  // per advance(), so that other tasks get their turn
constexpr int kCalmRounds =
    3;  // idle rounds in a row before a member counts as calm: its other tasks had their turn, too

std::chrono::nanoseconds time_on_the_wire(std::size_t size_bytes, const LinkFacts& facts) {
  const double seconds = static_cast<double>(size_bytes + kFrameHeaderBytes) / facts.bytes_per_second;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

}  // namespace

SimulatedWires::SimulatedWires(int num_members, const SimulatedNetwork::Options& options)
    : clock_(options.start),
      random_(options.seed, kWireStream),
      ports_(static_cast<std::size_t>(num_members)),
      links_(ports_.size() * ports_.size()) {
  for (Link& link : links_) {
    link = {.facts = options.link, .free_at = options.start, .last_arrival = options.start};
  }
}

SimulatedWires::Link& SimulatedWires::link(int from, int to) {
  return links_[static_cast<std::size_t>(from) * ports_.size() + static_cast<std::size_t>(to)];
}

void SimulatedWires::set_link(int from, int to, const LinkFacts& facts) {
  const std::lock_guard lock(mutex_);
  link(from, to).facts = facts;
}

void SimulatedWires::take(int member) {
  const std::lock_guard lock(mutex_);
  COHORT_CHECK(!at(member).taken, "member {} was taken twice", member);
  at(member).taken = true;
}

void SimulatedWires::open(int member, FrameSink& sink, Doorbell& doorbell) {
  const std::lock_guard lock(mutex_);
  COHORT_CHECK(at(member).sink == nullptr, "member {} was opened twice", member);
  at(member).sink = &sink;
  at(member).doorbell = &doorbell;
  wake(at(member));
}

void SimulatedWires::wake(Port& port) {
  port.calm_rounds = 0;
  if (port.doorbell != nullptr) port.doorbell->ring();
}

int SimulatedWires::draw_losses(Link& link, int from, int to) {
  const auto pair = static_cast<std::uint64_t>(from) * ports_.size() + static_cast<std::uint64_t>(to);
  const RandomStream random = random_.substream(pair);
  int losses = 0;
  while (losses < link.facts.losses_cap && random.uniform(link.num_drawn++) < link.facts.loss) ++losses;
  return losses;
}

void SimulatedWires::schedule(TimePoint when, Event event) {
  events_.emplace(std::pair(when, num_events_++), std::move(event));
  changed_.notify_all();
}

void SimulatedWires::send(int from, int to, const FrameHeader& header, std::span<const std::byte> payload,
                          Transport::Sent sent) {
  const std::lock_guard lock(mutex_);
  if (at(from).closed) return;
  Link& way = link(from, to);
  if (way.is_cut) {
    at(from).receipts.push_back(
        {header, std::move(sent),
         Error(ErrorCode::kPeerLost, fmt::format("member {} cannot be reached", to))});
    return wake(at(from));
  }
  const int losses = draw_losses(way, from, to);
  const TimePoint leaves = std::max(clock_.now(), way.free_at) + time_on_the_wire(payload.size(), way.facts);
  way.free_at = leaves;
  way.last_arrival =
      std::max(way.last_arrival, leaves + way.facts.latency + losses * way.facts.retransmit_after);
  Event event = {News::kMessage, from, to, header, {payload.begin(), payload.end()}, std::move(sent), {}};
  if (losses >= way.facts.losses_cap && losses > 0) {
    event.news = News::kDeadLink;
    event.loss = Error(
        ErrorCode::kPeerLost,
        fmt::format("the link from member {} to member {} is dead: {} losses in a row", from, to, losses));
  }
  schedule(way.last_arrival, std::move(event));
}

void SimulatedWires::withdraw(int member, std::uint32_t group, std::uint32_t generation) {
  const std::lock_guard lock(mutex_);
  // Payloads are copied when they are sent, so messages in flight may still arrive. Only their callbacks end.
  const auto is_over = [&](const FrameHeader& header) {
    return header.group == group && header.generation <= generation;
  };
  const auto silence = [&](Event& event) {
    if (event.from == member && is_over(event.header)) event.sent = nullptr;
  };
  for (auto& [when, event] : events_) silence(event);
  for (Port& port : ports_) std::for_each(port.inbox.begin(), port.inbox.end(), silence);
  std::erase_if(at(member).receipts, [&](const Receipt& receipt) { return is_over(receipt.header); });
}

// Fails the messages in flight from `from` to `to`.
void SimulatedWires::fail_sends(int from, int to, const Error& why) {
  for (auto at_event = events_.begin(); at_event != events_.end();) {
    Event& event = at_event->second;
    if (event.from != from || event.to != to || event.news == News::kLoss) {
      ++at_event;
      continue;
    }
    at(from).receipts.push_back({event.header, std::move(event.sent), why});
    at_event = events_.erase(at_event);
  }
  wake(at(from));
}

// `from` is told at once that `to` is lost; `to` is told one latency later, after the messages in flight to
// it.
void SimulatedWires::cut(int from, int to, const Error& why) {
  if (from == to || link(from, to).is_cut) return;
  link(from, to).is_cut = true;
  link(to, from).is_cut = true;
  fail_sends(to, from, why);
  Link& way = link(from, to);
  way.last_arrival = std::max(way.last_arrival, clock_.now() + way.facts.latency);
  schedule(way.last_arrival, Event{.news = News::kLoss, .from = from, .to = to, .loss = why});
  at(from).inbox.push_back(Event{.news = News::kLoss, .from = to, .to = from, .loss = why});
  wake(at(from));
}

void SimulatedWires::give_up(int member, int other, const Error& why) {
  const std::lock_guard lock(mutex_);
  if (member == other) return;
  fail_sends(member, other, why);
  cut(member, other, why);
}

void SimulatedWires::close(int member) {
  std::unique_lock lock(mutex_);
  Port& port = at(member);
  if (port.closed) return;
  port.closed = true;
  const Error why(ErrorCode::kPeerLost, fmt::format("member {} has left", member));
  for (int other = 0; other < size(); ++other) cut(member, other, why);
  changed_.wait(lock, [&] { return !port.advancing; });
  const Port old = std::exchange(port, Port{.taken = true, .closed = true});
  changed_.notify_all();
  lock.unlock();  // the mutex is not held while callbacks are destroyed
}

bool SimulatedWires::advance(int member) {
  Port& port = at(member);
  FrameSink* sink = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (port.closed || port.sink == nullptr) return false;
    port.advancing = true;
    sink = port.sink;
  }
  bool moved = false;
  for (int i = 0; i < kRounds && one_round(port, *sink); ++i) moved = true;
  const std::lock_guard lock(mutex_);
  port.advancing = false;
  port.calm_rounds = moved ? 0 : port.calm_rounds + 1;
  if (!moved && port.calm_rounds <= kCalmRounds) changed_.notify_all();
  if (port.closed) changed_.notify_all();
  return moved;
}

bool SimulatedWires::one_round(Port& port, FrameSink& sink) {
  std::unique_lock lock(mutex_);
  if (port.closed) return false;
  if (!port.receipts.empty()) {
    const Receipt receipt = std::move(port.receipts.front());
    port.receipts.pop_front();
    lock.unlock();
    if (receipt.sent) receipt.sent(receipt.outcome);
    return true;
  }
  if (port.inbox.empty()) return false;
  const Event event = std::move(port.inbox.front());
  port.inbox.pop_front();
  lock.unlock();
  if (event.news == News::kLoss) {
    sink.lost(event.from, *event.loss);
    return true;
  }
  const std::span<std::byte> room = sink.buffer_for(event.from, event.header);
  COHORT_CHECK(room.empty() || room.size() == event.payload.size());
  if (!room.empty()) std::memcpy(room.data(), event.payload.data(), room.size());
  sink.arrived(event.from, event.header);
  return true;
}

std::optional<TimePoint> SimulatedWires::next_arrival() const {
  const std::lock_guard lock(mutex_);
  if (events_.empty()) return std::nullopt;
  return events_.begin()->first.first;
}

void SimulatedWires::move_to(TimePoint when) {
  const std::lock_guard lock(mutex_);
  if (when > clock_.now()) clock_.advance(when - clock_.now());
  while (!events_.empty() && events_.begin()->first.first <= clock_.now()) {
    Event event = std::move(events_.begin()->second);
    events_.erase(events_.begin());
    arrive(std::move(event));
  }
  for (Port& port : ports_) {
    if (port.doorbell != nullptr) port.doorbell->ring();
  }
}

void SimulatedWires::arrive(Event event) {
  Port& from = at(event.from);
  Port& to = at(event.to);
  if (event.news == News::kDeadLink) {
    from.receipts.push_back({event.header, std::move(event.sent), *event.loss});
    fail_sends(event.from, event.to, *event.loss);
    return cut(event.from, event.to, *event.loss);
  }
  if (to.closed) return;
  if (event.news == News::kMessage && !from.closed) {
    from.receipts.push_back({event.header, std::move(event.sent), {}});
  }
  to.inbox.push_back(std::move(event));
  wake(from);
  wake(to);
}

bool SimulatedWires::is_calm() const {
  return std::all_of(ports_.begin(), ports_.end(), [](const Port& port) {
    if (port.closed || port.sink == nullptr) return true;
    return !port.advancing && port.inbox.empty() && port.receipts.empty() && port.calm_rounds >= kCalmRounds;
  });
}

bool SimulatedWires::wait_until_calm(std::chrono::nanoseconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [&] { return is_calm(); });
}

void SimulatedWires::wait_for_traffic(std::chrono::nanoseconds limit) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit, [&] { return !events_.empty(); });
}

}  // namespace cohort::comm
