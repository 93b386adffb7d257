#include "net/tcp_transport.h"

#include "base/check.h"
#include "net/plain_stream.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace cohort::net {

using comm::Channel;
using comm::FrameHeader;

namespace {

constexpr std::size_t kReadAtOnce = std::size_t{2} << 20;
constexpr std::size_t kWriteAtOnce = std::size_t{1} << 20;
// So many bytes may be untold to the other side, which keeps them until it knows.
constexpr std::uint64_t kUntold = std::uint64_t{128} << 10;
constexpr std::size_t kMostGuests = 128;
constexpr std::chrono::milliseconds kFirstPause{5};
constexpr std::chrono::milliseconds kLongestPause{500};

std::uint64_t draw_session() {
  std::uint64_t session = 0;
  value_or_throw(fill_random(std::as_writable_bytes(std::span(&session, 1))));
  return session;
}

Error left(int member) {
  return Error(ErrorCode::kPeerLost, fmt::format("member {} has left", member));
}

}  // namespace

struct TcpTransport::Connection {
  Descriptor socket;
  std::unique_ptr<Watch> watch;
  std::unique_ptr<Stream> stream;
  bool is_prepared = false;
};

/// Another member, connected or not.
struct TcpTransport::Peer final : MessageSink {
  Peer(TcpTransport& of, int number, Guard guard) : transport(of), member(number), out(guard), in(guard) {}

  std::span<std::byte> place(const FrameHeader& header) override {
    return is_own(header) ? std::span<std::byte>() : transport.sink_->place(member, header);
  }
  void arrived(const FrameHeader& header) override {
    if (header.channel == Channel::kReceipt) {
      const std::lock_guard lock(transport.mutex_);
      if (Status fits = out.has_taken(header.number); !fits) fault = fits.error();
    } else if (header.channel == Channel::kFarewell) {
      fault = left(member);
    } else {
      num_owed += header.size_bytes + comm::kFrameHeaderBytes;
      owes_now = owes_now || header.size_bytes > OutStream::kCopied;
      transport.sink_->arrived(member, header);
    }
  }
  static bool is_own(const FrameHeader& header) {
    return header.channel == Channel::kReceipt || header.channel == Channel::kFarewell;
  }

  TcpTransport& transport;
  const int member;
  OutStream out;
  InStream in;
  std::unique_ptr<Connection> connection{};
  std::unique_ptr<Connection> dialled{};  // not greeted yet
  std::unique_ptr<ConnectorGreeting> greeting{};
  bool is_connected = false;  // of `dialled`
  TimePoint dial_at{};
  TimePoint greet_until{};
  std::chrono::milliseconds pause = kFirstPause;
  TimePoint come_until{};
  bool has_come = false;
  std::uint64_t session = 0;
  std::uint64_t num_owed = 0;  // bytes that it does not know to be here
  bool owes_now = false;
  std::optional<Error> fault{};  // what it said that ends all
  std::optional<Error> last_failure{};
  std::optional<Error> loss{};
  bool reported = false;
  bool owes_farewell = false;  // it was given up before it could be told
  struct ToSelf {
    FrameHeader header{};
    std::span<const std::byte> payload{};
    Sent sent{};
  };
  std::deque<ToSelf> to_self{};
};

/// Who has connected, and has not shown who it is.
struct TcpTransport::Guest {
  std::unique_ptr<Connection> connection;
  std::unique_ptr<ListenerGreeting> greeting;
  TimePoint until;
  bool is_gone = false;
};

TcpTransport::TcpTransport(TcpFacts facts, Descriptor listener, Reactor& reactor, Clock& clock,
                           const TcpOptions& options)
    : facts_(std::move(facts)),
      options_(options),
      listener_(std::move(listener)),
      reactor_(reactor),
      clock_(clock),
      listener_watch_(reactor.watch(listener_.number())),
      session_(draw_session()) {
  const Guard guard = options_.secrecy == Secrecy::kTls ? Guard::kNone : Guard::kChecksum;
  for (int member = 0; member < num_members(); ++member) {
    peers_.push_back(std::make_unique<Peer>(*this, member, guard));
    peers_.back()->come_until = clock_.now() + options_.first_limit;
    peers_.back()->dial_at = clock_.now();
  }
}

TcpTransport::~TcpTransport() {
  close();
}

void TcpTransport::open(comm::FrameSink& sink, comm::Doorbell& doorbell) {
  const std::lock_guard lock(mutex_);
  sink_ = &sink;
  doorbell_ = &doorbell;
  doorbell.ring();
}

void TcpTransport::send(int to, const FrameHeader& header, std::span<const std::byte> payload, Sent sent) {
  COHORT_CHECK_EQ(header.size_bytes, payload.size());
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  Peer& other = peer(to);
  if (to == member() || other.loss) {
    other.to_self.push_back({header, payload, std::move(sent)});
  } else {
    other.out.add(header, payload, std::move(sent));
  }
  if (doorbell_ != nullptr) doorbell_->ring();
}

void TcpTransport::withdraw(std::uint32_t group, std::uint32_t generation) {
  const std::lock_guard lock(mutex_);
  for (const auto& each : peers_) {
    each->out.take_back(group, generation);
    std::erase_if(each->to_self, [&](const Peer::ToSelf& message) {
      return message.header.group == group && message.header.generation <= generation;
    });
  }
}

void TcpTransport::give_up(int member, const Error& why) {
  const std::lock_guard lock(mutex_);
  if (member == this->member() || closed_) return;
  Peer& other = peer(member);
  if (other.loss) return;
  say_farewell(other);
  other.owes_farewell = !other.connection && member < this->member();  // who connects to us hears it then
  lose(other, why);
  if (doorbell_ != nullptr) doorbell_->ring();
}

void TcpTransport::close() {
  std::unique_lock lock(mutex_);
  if (closed_) return;
  closed_ = true;
  advanced_.wait(lock, [&] { return !advancing_; });
  if (sink_ != nullptr) linger(lock);
  for (const auto& each : peers_) {
    each->connection.reset();
    each->dialled.reset();
    each->to_self.clear();
    (void)each->out.take_all();
    (void)each->out.take_ready();
  }
  guests_.clear();
  listener_watch_.reset();
  listener_ = Descriptor();
}

// Short messages are called back before they are out, so whoever leaves has to see them off; and a connection
// that is closed with bytes unread would take along those that are under way. What comes in meanwhile is
// nobody's any more.
void TcpTransport::linger(std::unique_lock<std::mutex>& lock) {
  struct Nobody final : comm::FrameSink {
    std::span<std::byte> place(int, const FrameHeader&) override { return {}; }
    void arrived(int, const FrameHeader&) override {}
    void lost(int, const Error&) override {}
  } nobody;
  sink_ = &nobody;
  const TimePoint until = clock_.now() + options_.leave_limit;
  for (const auto& each : peers_) {
    each->to_self.clear();
    if (each->member != member() && !each->loss) each->out.add({.channel = Channel::kFarewell}, {}, {});
  }
  const auto is_awaited = [&](const auto& each) {
    return each->member != member() && !each->loss && (each->has_come || each->out.has_payload());
  };
  lock.unlock();
  while (clock_.now() < until && std::any_of(peers_.begin(), peers_.end(), is_awaited)) {
    if (!advance_all()) reactor_.sleep(std::min(until, wanted_at()));
    for (const auto& each : peers_) {
      if (each->connection && !each->out.has_more()) stop_writing(each->connection->socket);
    }
  }
  lock.lock();
}

// As much as the connection takes now: whoever does not hear it sees the connection end.
void TcpTransport::say_farewell(Peer& other) {
  if (!other.connection || !other.connection->is_prepared) return;
  other.out.add({.channel = Channel::kFarewell}, {}, {});
  while (other.out.has_more()) {
    const auto put = other.connection->stream->write(other.out.gather(kWriteAtOnce));
    if (!put || *put == 0) break;
    other.out.wrote(*put);
  }
}

void TcpTransport::lose(Peer& other, const Error& why) {
  if (!other.loss) other.loss = Error(ErrorCode::kPeerLost, why.text());
}

bool TcpTransport::advance() {
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || sink_ == nullptr) return false;
    advancing_ = true;
  }
  const bool moved = advance_all();
  const std::lock_guard lock(mutex_);
  advancing_ = false;
  advanced_.notify_all();
  return moved;
}

bool TcpTransport::advance_all() {
  reactor_.poll();
  bool moved = accept_guests();
  moved = advance_guests() || moved;
  moved = deliver_to_self() || moved;
  for (const auto& each : peers_) {
    if (each->member == member()) continue;
    if (!each->loss || each->owes_farewell) {
      moved = dial(*each) || moved;
      moved = prepare(*each) || moved;
    }
    if (!each->loss) {
      moved = read(*each) || moved;
      moved = write(*each) || moved;
    }
    moved = call_back(*each) || moved;
    moved = report(*each) || moved;
  }
  return moved;
}

TimePoint TcpTransport::wanted_at() const {
  TimePoint wanted = TimePoint::max();
  for (const auto& guest : guests_) wanted = std::min(wanted, guest->until);
  for (const auto& each : peers_) {
    if (each->member == member() || each->connection) continue;
    if (each->reported && !each->owes_farewell) continue;
    wanted = std::min(wanted, each->come_until);
    wanted = std::min(wanted, each->dialled ? each->greet_until : each->dial_at);
  }
  return wanted;
}

// ----- who connects to us -----

bool TcpTransport::accept_guests() {
  bool moved = false;
  while (listener_watch_->is_readable()) {
    auto socket = accept_one(listener_);
    if (!socket || !socket->is_open()) {
      listener_watch_->wait_for_read();
      break;
    }
    moved = true;
    if (guests_.size() >= kMostGuests) continue;  // closed at once
    auto guest = std::make_unique<Guest>();
    guest->connection = std::make_unique<Connection>();
    guest->connection->watch = reactor_.watch(socket->number());
    guest->connection->stream = std::make_unique<PlainStream>(socket->number());
    guest->connection->socket = std::move(*socket);
    Nonce nonce;
    value_or_throw(fill_random(nonce));
    guest->greeting = std::make_unique<ListenerGreeting>(facts_.key, nonce,
                                                         [this](const Hello& hello) { return judge(hello); });
    guest->until = clock_.now() + options_.greeting_limit;
    guests_.push_back(std::move(guest));
  }
  return moved;
}

bool TcpTransport::advance_guests() {
  bool moved = false;
  for (const auto& guest : guests_) moved = advance_guest(*guest) || moved;
  std::erase_if(guests_, [](const auto& guest) { return guest->is_gone; });
  return moved;
}

bool TcpTransport::advance_guest(Guest& guest) {
  if (clock_.now() >= guest.until) {
    guest.is_gone = true;
    return true;
  }
  Watch& watch = *guest.connection->watch;
  if (!watch.is_readable()) return false;
  const auto done = guest.greeting->advance(*guest.connection->stream);
  if (!done) {
    guest.is_gone = true;  // a stranger hears nothing
    return true;
  }
  if (!*done) {
    watch.wait_for_read();
    return false;
  }
  settle(guest);
  guest.is_gone = true;
  return true;
}

Welcome TcpTransport::judge(const Hello& hello) {
  using Verdict = Welcome::Verdict;
  Welcome welcome{.member = static_cast<std::uint32_t>(member()), .session = session_};
  const bool is_later = hello.from > static_cast<std::uint32_t>(member()) &&
                        hello.from < static_cast<std::uint32_t>(num_members());
  if (hello.job != facts_.key.job() || hello.to != welcome.member || !is_later || hello.lane != 0) {
    welcome.verdict = Verdict::kWrongMember;
    return welcome;
  }
  if (hello.secrecy != options_.secrecy) {
    welcome.verdict = Verdict::kWrongSecrecy;
    return welcome;
  }
  Peer& other = peer(static_cast<int>(hello.from));
  if (other.loss || (other.has_come && other.session != hello.session)) {
    welcome.verdict = Verdict::kUnknownSession;
    return welcome;
  }
  other.in.start_over();
  welcome.num_taken = other.in.num_taken();
  return welcome;
}

void TcpTransport::settle(Guest& guest) {
  const Hello& hello = *guest.greeting->hello();
  if (guest.greeting->welcome().verdict != Welcome::Verdict::kAccepted) return;
  Peer& other = peer(static_cast<int>(hello.from));
  attach(other, std::move(guest.connection), End::kListener, {hello.session, hello.num_taken});
}

// ----- whom we connect to -----

bool TcpTransport::dial(Peer& other) {
  const TimePoint now = clock_.now();
  if (!other.connection && now >= other.come_until) {
    const std::lock_guard lock(mutex_);
    const std::string what = fmt::format("member {} at {} {}", other.member,
                                         facts_.addresses[static_cast<std::size_t>(other.member)].text(),
                                         other.has_come ? "did not come back" : "did not come");
    other.owes_farewell = false;
    lose(other, other.last_failure ? other.last_failure->within(what) : Error(ErrorCode::kPeerLost, what));
    return true;
  }
  if (other.connection) return false;
  if (other.member > member()) return probe(other);
  if (!other.dialled) {
    if (now < other.dial_at) return false;
    begin_dial(other);
    return true;
  }
  if (now >= other.greet_until) {
    broke(other, Error(ErrorCode::kTimedOut, "the greeting took too long"));
    return true;
  }
  Watch& watch = *other.dialled->watch;
  if (!other.is_connected) {
    if (!watch.is_writable()) return false;
    const Status outcome =
        connect_outcome(other.dialled->socket, facts_.addresses[static_cast<std::size_t>(other.member)]);
    if (!outcome) {
      broke(other, outcome.error());
      return true;
    }
    other.is_connected = true;
  }
  if (!watch.is_readable()) return false;
  const auto done = other.greeting->advance(*other.dialled->stream);
  if (!done) {
    broke(other, done.error());
    return true;
  }
  if (!*done) {
    watch.wait_for_read();
    return false;
  }
  const Welcome& welcome = other.greeting->welcome();
  if (other.has_come && welcome.session != other.session) {
    const std::lock_guard lock(mutex_);
    lose(other, Error(ErrorCode::kPeerLost,
                      fmt::format("another process has taken the place of member {}", other.member)));
    return true;
  }
  attach(other, std::move(other.dialled), End::kConnector, {welcome.session, welcome.num_taken});
  return true;
}

// A member that connects to us, and does not any more: whether somebody listens at its address tells whether
// its process is still there.
bool TcpTransport::probe(Peer& other) {
  const TimePoint now = clock_.now();
  if (!other.dialled) {
    if (now < other.dial_at) return false;
    reach_out(other);
    return true;
  }
  if (!other.dialled->watch->is_writable()) return false;
  const Status outcome =
      connect_outcome(other.dialled->socket, facts_.addresses[static_cast<std::size_t>(other.member)]);
  broke(other, outcome ? Error(ErrorCode::kIo, "its connection broke") : outcome.error());
  return true;
}

bool TcpTransport::reach_out(Peer& other) {
  auto socket = begin_connect(facts_.addresses[static_cast<std::size_t>(other.member)]);
  if (!socket) {
    broke(other, socket.error());
    return false;
  }
  other.dialled = std::make_unique<Connection>();
  other.dialled->watch = reactor_.watch(socket->number());
  other.dialled->stream = std::make_unique<PlainStream>(socket->number());
  other.dialled->socket = std::move(*socket);
  other.dialled->watch->wait_for_write();
  other.is_connected = false;
  return true;
}

void TcpTransport::begin_dial(Peer& other) {
  if (!reach_out(other)) return;
  other.greet_until = clock_.now() + options_.greeting_limit;
  other.in.start_over();
  Hello hello{.job = facts_.key.job(),
              .from = static_cast<std::uint32_t>(member()),
              .to = static_cast<std::uint32_t>(other.member),
              .session = session_,
              .num_taken = other.in.num_taken(),
              .secrecy = options_.secrecy};
  value_or_throw(fill_random(hello.nonce));
  other.greeting = std::make_unique<ConnectorGreeting>(facts_.key, hello);
}

void TcpTransport::attach(Peer& other, std::unique_ptr<Connection> connection, End end,
                          const Counterpart& counterpart) {
  const std::lock_guard lock(mutex_);
  if (Status fits = other.out.go_on_from(counterpart.num_taken); !fits) return lose(other, fits.error());
  if (options_.secrecy == Secrecy::kTls) {
    auto encrypted = TlsStream::make(connection->socket.number(), end, facts_.key);
    if (!encrypted) return lose(other, encrypted.error());
    connection->stream = std::move(*encrypted);
  }
  other.connection = std::move(connection);
  other.dialled.reset();
  other.session = counterpart.session;
  other.has_come = true;
  other.pause = kFirstPause;
  other.last_failure.reset();
}

// A connection ended, or none came about.
void TcpTransport::broke(Peer& other, const Error& why) {
  const bool is_refused = other.greeting && other.greeting->is_refused();
  const std::lock_guard lock(mutex_);
  const TimePoint now = clock_.now();
  const bool was_up = other.connection != nullptr;
  const bool was_greeting = other.dialled && other.is_connected && !is_refused;
  other.connection.reset();
  other.dialled.reset();
  other.last_failure = why;
  if (was_up) {
    other.come_until = now + options_.return_limit;
    other.dial_at = now;
    return;
  }
  // A member listens before others know its address: where nobody does any more, its process is gone.
  const ErrorCode code = why.root().code();
  const bool is_gone = code == ErrorCode::kPeerLost && !was_greeting;
  if (is_gone || code == ErrorCode::kUsage || code == ErrorCode::kUnsupported) {
    other.owes_farewell = false;
    return lose(other, why);
  }
  other.dial_at = now + other.pause;
  other.pause = std::min(2 * other.pause, kLongestPause);
}

// ----- bytes -----

// Before the first byte of a message.
bool TcpTransport::prepare(Peer& other) {
  if (!other.connection || other.connection->is_prepared || !other.connection->watch->is_readable())
    return false;
  const auto done = other.connection->stream->prepare();
  if (!done) {
    broke(other, done.error());
    return true;
  }
  other.connection->is_prepared = *done;
  if (!*done) other.connection->watch->wait_for_read();
  if (*done && other.loss) {
    const std::lock_guard lock(mutex_);
    say_farewell(other);
    other.connection.reset();
    other.owes_farewell = false;
  }
  return *done;
}

bool TcpTransport::read(Peer& other) {
  if (!other.connection || !other.connection->is_prepared || !other.connection->watch->is_readable()) {
    return false;
  }
  const auto got = other.in.read(*other.connection->stream, other, kReadAtOnce);
  if (other.fault || (!got && got.error().root().code() == ErrorCode::kCorrupt)) {
    const std::lock_guard lock(mutex_);
    lose(other, other.fault ? *other.fault : got.error());
    return true;
  }
  if (!got) {
    broke(other, got.error());
    return true;
  }
  if (*got < kReadAtOnce) other.connection->watch->wait_for_read();
  if (other.owes_now || other.num_owed >= kUntold) owe_receipt(other);
  return *got > 0;
}

void TcpTransport::owe_receipt(Peer& other) {
  const std::lock_guard lock(mutex_);
  other.out.add({.channel = Channel::kReceipt, .number = other.in.num_taken()}, {}, {});
  other.num_owed = 0;
  other.owes_now = false;
}

bool TcpTransport::write(Peer& other) {
  std::unique_lock lock(mutex_);
  if (!other.connection || !other.connection->is_prepared || !other.out.has_more()) return false;
  if (!other.connection->watch->is_writable()) return false;
  const auto put = other.connection->stream->write(other.out.gather(kWriteAtOnce));
  if (!put) {
    lock.unlock();
    broke(other, put.error());
    return true;
  }
  if (*put == 0) other.connection->watch->wait_for_write();
  other.out.wrote(*put);
  return *put > 0;
}

bool TcpTransport::call_back(Peer& other) {
  std::vector<Sent> ready;
  {
    const std::lock_guard lock(mutex_);
    ready = other.out.take_ready();
  }
  for (const Sent& sent : ready) {
    if (sent) sent({});
  }
  return !ready.empty();
}

bool TcpTransport::deliver_to_self() {
  bool moved = false;
  while (true) {
    Peer& self = peer(member());
    std::unique_lock lock(mutex_);
    if (self.to_self.empty()) return moved;
    const Peer::ToSelf message = std::move(self.to_self.front());
    self.to_self.pop_front();
    const std::span<std::byte> room = sink_->place(member(), message.header);
    if (!room.empty()) std::memcpy(room.data(), message.payload.data(), room.size());
    lock.unlock();
    if (message.sent) message.sent({});
    sink_->arrived(member(), message.header);
    moved = true;
  }
}

bool TcpTransport::report(Peer& other) {
  std::vector<Sent> failed;
  {
    const std::lock_guard lock(mutex_);
    if (!other.loss) return false;
    failed = other.out.take_all();
    for (Peer::ToSelf& message : other.to_self) failed.push_back(std::move(message.sent));
    other.to_self.clear();
    if (other.reported && failed.empty()) return false;
    other.connection.reset();
    other.dialled.reset();
  }
  for (const Sent& sent : failed) {
    if (sent) sent(*other.loss);
  }
  if (!std::exchange(other.reported, true)) sink_->lost(other.member, *other.loss);
  return true;
}

}  // namespace cohort::net
