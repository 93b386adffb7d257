#include "net/rail.h"

#include "net/link.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace cohort::net {

using comm::Channel;
using comm::FrameHeader;

namespace {

constexpr std::size_t kReadAtOnce = std::size_t{256} << 10;
constexpr std::size_t kWriteAtOnce = std::size_t{256} << 10;
// Unacknowledged bytes stay in the sender's memory: acknowledge at least this often.
constexpr std::uint64_t kUntold = std::uint64_t{128} << 10;

Guard guard_of(Secrecy secrecy) {
  return secrecy == Secrecy::kTls ? Guard::kNone : Guard::kChecksum;
}

std::string at_addresses(const std::vector<SocketAddress>& addresses) {
  std::string text;
  for (const SocketAddress& address : addresses) {
    text += fmt::format("{}{}", text.empty() ? " at " : ", ", address.text());
  }
  return text;
}

bool is_control(const FrameHeader& header) {
  return header.channel == Channel::kReceipt || header.channel == Channel::kFarewell;
}

}  // namespace

Rail::Rail(Station& station, int other, std::uint16_t number, Link& link)
    : station_(station),
      other_(other),
      number_(number),
      link_(link),
      out_(guard_of(station.options.secrecy)),
      in_(guard_of(station.options.secrecy)),
      dialler_(station, other, number),
      come_until_(deadline_after(station.clock.now(), station.options.first_limit)) {
  dialler_.start(0);
}

bool Rail::advance() {
  if (end_) return false;
  bool moved = !connection_ && reconnect();
  if (connection_ && !connection_->is_prepared) moved = prepare() || moved;
  if (is_connected()) moved = read() || moved;
  if (is_connected()) moved = write() || moved;
  return moved;
}

TimePoint Rail::wanted_at() const {
  if (end_) return TimePoint::max();
  if (is_connected()) return is_held() ? TimePoint::max() : low_water_->look_at();
  if (connection_) return prepare_until_;
  return std::min(come_until_, dialler_.wanted_at());
}

bool Rail::is_through() const {
  if (end_) return true;
  if (!connection_) return !out_.has_payload();
  return !out_.has_more() && has_arrived(connection_->socket);
}

// ----- connections -----

bool Rail::reconnect() {
  if (is_too_late()) return true;
  const Dialler::Outcome outcome = dialler_.advance();
  switch (outcome) {
    case Dialler::Outcome::kReached: {
      const Welcome welcome = dialler_.welcome();
      attach(dialler_.take_connection(), End::kConnector,
             {welcome.session, welcome.num_taken, dialler_.tls_secret()});
      return true;
    }
    case Dialler::Outcome::kFailed:
      last_failure_ = dialler_.why();
      return true;
    case Dialler::Outcome::kHopeless:
      lose(dialler_.why());
      return true;
    default:
      return outcome == Dialler::Outcome::kMoved;
  }
}

bool Rail::is_too_late() {
  if (station_.clock.now() < come_until_) return false;
  const std::string what =
      fmt::format("member {}{} did not {} in time", other_, at_addresses(station_.addresses_of(other_)),
                  has_met_ ? "reconnect" : "connect");
  lose(last_failure_ ? last_failure_->within(what) : Error(ErrorCode::kPeerLost, what));
  return true;
}

std::optional<std::uint64_t> Rail::next_from(std::uint64_t session) {
  if (end_ || link_.session().value_or(session) != session) return std::nullopt;
  // The peer has dropped the old connection, even if this side has not noticed yet.
  broke(Error(ErrorCode::kPeerLost, fmt::format("member {} opened a new connection", other_)));
  return in_.num_taken();
}

void Rail::attach(std::unique_ptr<Connection> connection, End end, const Counterpart& counterpart) {
  if (link_.session().value_or(counterpart.session) != counterpart.session) {
    return lose(
        Error(ErrorCode::kPeerLost, fmt::format("member {} was replaced by another process: session {:#x}, "
                                                "expected {:#x}",
                                                other_, counterpart.session, *link_.session())));
  }
  if (station_.options.secrecy == Secrecy::kTls) {
    auto encrypted = TlsStream::make(connection->socket.number(), end, counterpart.secret);
    if (!encrypted) return lose(encrypted.error());
    connection->stream = std::move(*encrypted);
  }
  const std::lock_guard lock(station_.mutex);
  if (Status fits = out_.go_on_from(counterpart.num_taken); !fits) return lose(in_rail(fits.error()));
  connection_ = std::move(connection);
  paced_.emplace(station_.pace, connection_->socket.number());
  low_water_.emplace(connection_->socket.number());
  prepare_until_ = deadline_after(station_.clock.now(), station_.options.greeting_limit);
  dialler_.stop();
  link_.session() = counterpart.session;
  has_met_ = true;
  last_failure_.reset();
}

// Finishes the TLS handshake, before the first byte of a message.
bool Rail::prepare() {
  if (station_.clock.now() >= prepare_until_) {
    broke(Error(ErrorCode::kTimedOut, "the TLS handshake took too long"));
    return true;
  }
  if (!connection_->watch->is_readable()) return false;
  const auto done = connection_->stream->prepare();
  if (!done) {
    broke(done.error());
    return true;
  }
  connection_->is_prepared = *done;
  if (*done && !std::exchange(has_talked_, true)) come_until_ = station_.clock.now();  // see broke()
  if (!*done) connection_->watch->wait_for_read();
  return *done;
}

// A connection that carried bytes, or lived past the old deadline, gives the peer a new deadline to
// reconnect. Connections that break at once do not: the peer would never count as lost.
void Rail::broke(const Error& why) {
  const TimePoint now = station_.clock.now();
  in_.start_over();
  if (in_.num_taken() > num_at_break_ || now >= come_until_) {
    come_until_ = deadline_after(now, station_.options.return_limit);
  }
  num_at_break_ = in_.num_taken();
  paced_.reset();
  low_water_.reset();
  connection_.reset();
  last_failure_ = why;
  dialler_.start(in_.num_taken());
}

Error Rail::in_rail(const Error& why) const {
  return why.within(fmt::format("corrupt data from member {} on rail {}", other_, number_));
}

void Rail::lose(const Error& why) {
  if (!end_) end_ = Error(ErrorCode::kPeerLost, why.text());
}

void Rail::say_farewell() {
  if (!is_connected()) return;
  out_.add({.channel = Channel::kFarewell}, {}, {});
  while (out_.has_more()) {
    const auto put = connection_->stream->write(out_.gather(kWriteAtOnce));
    if (!put || *put == 0) break;
    out_.wrote(*put);
  }
}

void Rail::hang_up() {
  paced_.reset();
  low_water_.reset();
  connection_.reset();
  dialler_.stop();
}

// ----- bytes -----

bool Rail::is_due() const {
  return connection_->watch->is_readable() || station_.clock.now() >= low_water_->look_at();
}

bool Rail::read() {
  if (!is_due()) return false;
  const std::uint64_t num_before = in_.num_taken();
  const std::uint64_t come_before = connection_->stream->num_come();
  const auto got = in_.read(*connection_->stream, *this, kReadAtOnce);
  if (end_) return true;
  if (!got) {
    got.error().root().code() == ErrorCode::kCorrupt ? lose(in_rail(got.error())) : broke(got.error());
    return true;
  }
  const bool has_all = *got < kReadAtOnce && !in_.is_held();
  if (has_all && low_water_->settle(*got, in_.num_left(), station_.clock.now())) {
    connection_->watch->wait_for_read();
  }
  if (connection_->stream->num_come() > come_before) link_.heard();
  if (in_.num_taken() - num_told_ >= kUntold) acknowledge();
  return *got > 0 || in_.num_taken() > num_before;
}

Result<bool> Rail::admit(const FrameHeader& header) {
  if (end_) return true;
  return link_.assembly().admit(number_, header);
}

std::span<std::byte> Rail::buffer_for(const FrameHeader& header) {
  return is_control(header) || end_ ? std::span<std::byte>() : link_.assembly().buffer_for(number_, header);
}

void Rail::arrived(const FrameHeader& header) {
  if (end_) return;
  if (header.channel == Channel::kReceipt) {
    if (Status fits = link_.acknowledgement_came(header); !fits) lose(in_rail(fits.error()));
  } else if (header.channel == Channel::kFarewell) {
    lose(Error(ErrorCode::kPeerLost, fmt::format("member {} has left", other_)));
  } else {
    acknowledge_long(header);
    if (Status fits = link_.assembly().arrived(number_, header); !fits) lose(in_rail(fits.error()));
  }
}

void Rail::withdrawn(const FrameHeader& header) {
  if (end_) return;
  acknowledge_long(header);
  if (Status fits = link_.assembly().withdrawn(number_, header); !fits) lose(in_rail(fits.error()));
}

// A long message is acknowledged at once, so that the acknowledgement goes ahead of any answer to the
// message: a sender that gets the answer, and then loses the connection, knows that its message arrived.
void Rail::acknowledge_long(const FrameHeader& header) {
  if (header.size_bytes > OutStream::kCopied) acknowledge();
}

void Rail::acknowledge() {
  link_.send_acknowledgement(number_, in_.num_taken());
  num_told_ = in_.num_taken();
}

bool Rail::write() {
  std::unique_lock lock(station_.mutex);
  if (!out_.has_more()) {
    paced_->has_sent_all();
    return false;
  }
  if (!connection_->watch->is_writable()) return false;
  paced_->has_more(out_.num_left(), station_.clock);
  const auto put = connection_->stream->write(out_.gather(kWriteAtOnce));
  if (!put) {
    lock.unlock();
    broke(put.error());
    return true;
  }
  if (*put == 0) connection_->watch->wait_for_write();
  out_.wrote(*put);
  if (!out_.has_more()) paced_->has_sent_all();
  return *put > 0;
}

}  // namespace cohort::net
