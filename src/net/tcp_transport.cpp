#include "net/tcp_transport.h"

#include "base/check.h"

#include <algorithm>
#include <cstring>

namespace cohort::net {

using comm::FrameHeader;

namespace {

constexpr std::chrono::milliseconds kLookAgain{1};

std::uint64_t draw_session() {
  std::uint64_t session = 0;
  value_or_throw(fill_random(std::as_writable_bytes(std::span(&session, 1))));
  return session;
}

}  // namespace

TcpTransport::TcpTransport(TcpFacts facts, Descriptor listener, Reactor& reactor, Clock& clock,
                           const TcpOptions& options)
    : station_{.facts = std::move(facts),
               .options = options,
               .reactor = reactor,
               .clock = clock,
               .session = draw_session()},
      links_(station_.facts.members.size()),
      reception_(
          station_, std::move(listener), [this](const Hello& hello) { return judge(hello); },
          [this](const ListenerGreeting& greeting, std::unique_ptr<Connection> connection) {
            admit(greeting, std::move(connection));
          }) {
  COHORT_CHECK(options.num_rails >= 1 && options.num_rails <= kMostRails, "num_rails is {}, expected 1 … {}",
               options.num_rails, kMostRails);
  for (int other = 0; other < num_members(); ++other) {
    if (other == member() || station_.facts.members[static_cast<std::size_t>(other)].is_apart) continue;
    links_[static_cast<std::size_t>(other)] = std::make_unique<Link>(station_, other);
  }
}

TcpTransport::~TcpTransport() {
  close();
}

void TcpTransport::open(comm::FrameSink& sink, comm::Doorbell& doorbell) {
  const std::lock_guard lock(station_.mutex);
  station_.sink = &sink;
  doorbell_ = &doorbell;
  doorbell.ring();
}

void TcpTransport::send(int to, const FrameHeader& header, std::span<const std::byte> payload, Sent sent) {
  COHORT_CHECK_EQ(header.size_bytes, payload.size());
  const std::lock_guard lock(station_.mutex);
  if (closed_) return;
  if (to == member()) {
    to_self_.push_back({header, payload, std::move(sent)});
  } else {
    COHORT_CHECK(links_[static_cast<std::size_t>(to)] != nullptr, "member {} has no link in this transport",
                 to);
    link(static_cast<std::uint32_t>(to)).send(header, payload, std::move(sent));
  }
  if (doorbell_ != nullptr) doorbell_->ring();
}

void TcpTransport::withdraw(std::uint32_t group, std::uint32_t generation) {
  const std::lock_guard lock(station_.mutex);
  for (const auto& each : links_) {
    if (each) each->withdraw(group, generation);
  }
  std::erase_if(to_self_, [&](const ToSelf& message) {
    return message.header.group == group && message.header.generation <= generation;
  });
}

void TcpTransport::give_up(int other, const Error& why) {
  if (other == member()) return;
  const std::lock_guard lock(station_.mutex);
  if (closed_) return;
  link(static_cast<std::uint32_t>(other)).give_up(why);
  if (doorbell_ != nullptr) doorbell_->ring();
}

void TcpTransport::close() {
  std::unique_lock lock(station_.mutex);
  if (closed_) return;
  closed_ = true;
  advanced_.wait(lock, [&] { return !advancing_; });
  to_self_.clear();
  if (station_.sink != nullptr) {
    lock.unlock();
    leave();
    lock.lock();
  }
  for (const auto& each : links_) {
    if (each) each->drop();
  }
  reception_.close();
}

// The callback of a short message runs before the message is written, so close() has to wait until such
// messages are out. Messages that come in meanwhile are dropped.
void TcpTransport::leave() {
  struct Nobody final : comm::FrameSink {
    std::span<std::byte> buffer_for(int, const FrameHeader&) override { return {}; }
    void arrived(int, const FrameHeader&) override {}
    void withdrawn(int, const FrameHeader&) override {}
    void lost(int, const Error&) override {}
  } nobody;
  const TimePoint until = deadline_after(station_.clock.now(), station_.options.leave_limit);
  {
    const std::lock_guard lock(station_.mutex);
    station_.sink = &nobody;
    for (const auto& each : links_) {
      if (each) each->leave();
    }
  }
  const auto all_through = [this] {
    const std::lock_guard lock(station_.mutex);
    return std::all_of(links_.begin(), links_.end(),
                       [](const auto& each) { return !each || each->is_through(); });
  };
  while (!all_through() && station_.clock.now() < until) {
    if (!advance_all()) {
      station_.reactor.sleep(std::min({until, wanted_at(), station_.clock.now() + kLookAgain}));
    }
  }
}

bool TcpTransport::advance() {
  {
    const std::lock_guard lock(station_.mutex);
    if (closed_ || station_.sink == nullptr) return false;
    advancing_ = true;
  }
  const bool moved = advance_all();
  const std::lock_guard lock(station_.mutex);
  advancing_ = false;
  advanced_.notify_all();
  return moved;
}

bool TcpTransport::advance_all() {
  station_.reactor.poll();
  bool moved = reception_.advance();
  moved = deliver_to_self() || moved;
  for (const auto& each : links_) {
    if (each) moved = each->advance() || moved;
  }
  return moved;
}

TimePoint TcpTransport::wanted_at() const {
  TimePoint wanted = reception_.wanted_at();
  for (const auto& each : links_) {
    if (each) wanted = std::min(wanted, each->wanted_at());
  }
  return wanted;
}

Welcome TcpTransport::judge(const Hello& hello) {
  using Verdict = Welcome::Verdict;
  const auto us = static_cast<std::uint32_t>(member());
  Welcome welcome{.member = us, .session = station_.session, .num_rails = station_.options.num_rails};
  const bool is_later = hello.from > us && hello.from < links_.size() && links_[hello.from];
  if (hello.job != station_.facts.key.job() || hello.to != us || !is_later) {
    welcome.verdict = Verdict::kWrongMember;
  } else if (hello.secrecy != station_.options.secrecy) {
    welcome.verdict = Verdict::kWrongSecrecy;
  } else if (hello.num_rails != station_.options.num_rails) {
    welcome.verdict = Verdict::kWrongRails;
  } else if (link(hello.from).is_lost()) {
    welcome.verdict = Verdict::kUnknownSession;
  } else if (const auto from = link(hello.from).rail(hello.rail).next_from(hello.session)) {
    welcome.num_taken = *from;
  } else {
    welcome.verdict = Verdict::kUnknownSession;
  }
  return welcome;
}

void TcpTransport::admit(const ListenerGreeting& greeting, std::unique_ptr<Connection> connection) {
  const Hello& hello = *greeting.hello();
  link(hello.from)
      .rail(hello.rail)
      .attach(std::move(connection), End::kListener, {hello.session, hello.num_taken, greeting.tls_secret()});
}

bool TcpTransport::deliver_to_self() {
  bool moved = false;
  while (true) {
    std::unique_lock lock(station_.mutex);
    if (to_self_.empty()) return moved;
    const ToSelf message = std::move(to_self_.front());
    to_self_.pop_front();
    const std::span<std::byte> room = station_.sink->buffer_for(member(), message.header);
    if (!room.empty()) std::memcpy(room.data(), message.payload.data(), room.size());
    lock.unlock();
    if (message.sent) message.sent({});
    station_.sink->arrived(member(), message.header);
    moved = true;
  }
}

}  // namespace cohort::net
