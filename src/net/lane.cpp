#include "net/lane.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace cohort::net {

using comm::Channel;
using comm::FrameHeader;

namespace {

constexpr std::size_t kReadAtOnce = std::size_t{256} << 10;
constexpr std::size_t kWriteAtOnce = std::size_t{256} << 10;
// So many bytes may be untold to the other side, which keeps them until it knows.
constexpr std::uint64_t kUntold = std::uint64_t{128} << 10;

Guard guard_of(Secrecy secrecy) {
  return secrecy == Secrecy::kTls ? Guard::kNone : Guard::kChecksum;
}

std::string places(const std::vector<SocketAddress>& addresses) {
  std::string text;
  for (const SocketAddress& address : addresses) {
    text += fmt::format("{}{}", text.empty() ? " at " : ", ", address.text());
  }
  return text;
}

bool is_own(const FrameHeader& header) {
  return header.channel == Channel::kReceipt || header.channel == Channel::kFarewell;
}

}  // namespace

Lane::Lane(Station& station, int other, std::uint16_t number, LaneOwner& owner)
    : station_(station),
      other_(other),
      number_(number),
      owner_(owner),
      out_(guard_of(station.options.secrecy)),
      in_(guard_of(station.options.secrecy)),
      dialler_(station, other, number),
      come_until_(deadline_after(station.clock.now(), station.options.first_limit)) {
  dialler_.start(0);
}

bool Lane::advance() {
  if (end_) return false;
  bool moved = !connection_ && reconnect();
  if (connection_ && !connection_->is_prepared) moved = prepare() || moved;
  if (is_connected()) moved = read() || moved;
  if (is_connected()) moved = write() || moved;
  return moved;
}

TimePoint Lane::wanted_at() const {
  if (end_) return TimePoint::max();
  if (is_connected()) return is_held() ? TimePoint::max() : low_water_->look_at();
  if (connection_) return prepare_until_;
  return std::min(come_until_, dialler_.wanted_at());
}

bool Lane::is_through() const {
  if (end_) return true;
  if (!connection_) return !out_.has_payload();
  return !out_.has_more() && has_arrived(connection_->socket);
}

// ----- connections -----

bool Lane::reconnect() {
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

bool Lane::is_too_late() {
  if (station_.clock.now() < come_until_) return false;
  const std::string what = fmt::format("member {}{} {}", other_, places(station_.addresses_of(other_)),
                                       has_met_ ? "did not come back" : "did not come");
  lose(last_failure_ ? last_failure_->within(what) : Error(ErrorCode::kPeerLost, what));
  return true;
}

std::optional<std::uint64_t> Lane::next_from(std::uint64_t session) {
  if (end_ || owner_.session().value_or(session) != session) return std::nullopt;
  broke(Error(ErrorCode::kPeerLost, "it connected anew"));  // whether we have noticed or not
  return in_.num_taken();
}

void Lane::attach(std::unique_ptr<Connection> connection, End end, const Counterpart& counterpart) {
  if (owner_.session().value_or(counterpart.session) != counterpart.session) {
    return lose(
        Error(ErrorCode::kPeerLost, fmt::format("another process has taken the place of member {}", other_)));
  }
  if (station_.options.secrecy == Secrecy::kTls) {
    auto encrypted = TlsStream::make(connection->socket.number(), end, counterpart.secret);
    if (!encrypted) return lose(encrypted.error());
    connection->stream = std::move(*encrypted);
  }
  const std::lock_guard lock(station_.mutex);
  if (Status fits = out_.go_on_from(counterpart.num_taken); !fits) return lose(fits.error());
  connection_ = std::move(connection);
  paced_.emplace(station_.pace, connection_->socket.number());
  low_water_.emplace(connection_->socket.number());
  prepare_until_ = deadline_after(station_.clock.now(), station_.options.greeting_limit);
  dialler_.stop();
  owner_.session() = counterpart.session;
  has_met_ = true;
  last_failure_.reset();
}

// Before the first byte of a message.
bool Lane::prepare() {
  if (station_.clock.now() >= prepare_until_) {
    broke(Error(ErrorCode::kTimedOut, "the connection was not encrypted in time"));
    return true;
  }
  if (!connection_->watch->is_readable()) return false;
  const auto done = connection_->stream->prepare();
  if (!done) {
    broke(done.error());
    return true;
  }
  connection_->is_prepared = *done;
  if (*done && !std::exchange(has_talked_, true)) come_until_ = station_.clock.now();  // it has come
  if (!*done) connection_->watch->wait_for_read();
  return *done;
}

// The time to come back begins anew when the connection was good for something, or for long.
void Lane::broke(const Error& why) {
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

void Lane::lose(const Error& why) {
  if (!end_) end_ = Error(ErrorCode::kPeerLost, why.text());
}

void Lane::say_farewell() {
  if (!is_connected()) return;
  out_.add({.channel = Channel::kFarewell}, {}, {});
  while (out_.has_more()) {
    const auto put = connection_->stream->write(out_.gather(kWriteAtOnce));
    if (!put || *put == 0) break;
    out_.wrote(*put);
  }
}

void Lane::hang_up() {
  paced_.reset();
  low_water_.reset();
  connection_.reset();
  dialler_.stop();
}

// ----- bytes -----

bool Lane::is_due() const {
  return connection_->watch->is_readable() || station_.clock.now() >= low_water_->look_at();
}

bool Lane::read() {
  if (!is_due()) return false;
  const std::uint64_t num_before = in_.num_taken();
  const std::uint64_t come_before = connection_->stream->num_come();
  const auto got = in_.read(*connection_->stream, *this, kReadAtOnce);
  if (end_) return true;
  if (!got) {
    got.error().root().code() == ErrorCode::kCorrupt ? lose(got.error()) : broke(got.error());
    return true;
  }
  const bool has_all = *got < kReadAtOnce && !in_.is_held();
  if (has_all && low_water_->settle(*got, in_.num_left(), station_.clock.now())) {
    connection_->watch->wait_for_read();
  }
  if (connection_->stream->num_come() > come_before) owner_.heard();
  if (in_.num_taken() - num_told_ >= kUntold) add_receipt();
  return *got > 0 || in_.num_taken() > num_before;
}

Result<bool> Lane::admit(const FrameHeader& header) {
  if (end_) return true;
  return owner_.assembly().admit(number_, header);
}

std::span<std::byte> Lane::place(const FrameHeader& header) {
  return is_own(header) || end_ ? std::span<std::byte>() : owner_.assembly().place(number_, header);
}

void Lane::arrived(const FrameHeader& header) {
  if (end_) return;
  if (header.channel == Channel::kReceipt) {
    if (Status fits = owner_.receipt_came(header); !fits) lose(fits.error());
  } else if (header.channel == Channel::kFarewell) {
    lose(Error(ErrorCode::kPeerLost, fmt::format("member {} has left", other_)));
  } else {
    acknowledge(header);
    if (Status fits = owner_.assembly().arrived(number_, header); !fits) lose(fits.error());
  }
}

void Lane::taken_back(const FrameHeader& header) {
  if (end_) return;
  acknowledge(header);
  if (Status fits = owner_.assembly().taken_back(number_, header); !fits) lose(fits.error());
}

// The receipt of a long message goes before whatever is said in answer to it: who hears the answer, and that
// nothing more comes, knows that its message was here.
void Lane::acknowledge(const FrameHeader& header) {
  if (header.size_bytes > OutStream::kCopied) add_receipt();
}

void Lane::add_receipt() {
  owner_.send_receipt(number_, in_.num_taken());
  num_told_ = in_.num_taken();
}

bool Lane::write() {
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
