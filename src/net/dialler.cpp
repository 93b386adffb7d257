#include "net/dialler.h"

#include <algorithm>

namespace cohort::net {
namespace {

constexpr std::chrono::milliseconds kFirstRedial{5};
constexpr std::chrono::milliseconds kLongestRedial{500};

}  // namespace

Dialler::Dialler(Station& station, int other, std::uint16_t rail)
    : station_(station),
      other_(other),
      rail_(rail),
      purpose_(other < station.facts.member ? Purpose::kConnect : Purpose::kLook) {
  const std::size_t num_addresses = station.addresses_of(other).size();
  if (num_addresses > 0) turn_ = rail % num_addresses;
}

void Dialler::start(std::uint64_t num_taken) {
  stop();
  num_taken_ = num_taken;
  pause_ = kFirstRedial;
  next_at_ = station_.clock.now();
  if (purpose_ == Purpose::kLook && num_taken == 0) next_at_ += kLongestRedial;
  if (station_.addresses_of(other_).empty()) next_at_ = TimePoint::max();
}

void Dialler::stop() {
  attempt_.reset();
  next_at_ = TimePoint::max();
}

Dialler::Outcome Dialler::advance() {
  const TimePoint now = station_.clock.now();
  if (!attempt_) return now < next_at_ ? Outcome::kNothing : begin();
  if (now >= until_) return fail(Error(ErrorCode::kTimedOut, "no answer from " + address().text()));
  if (!is_connected_) {
    if (!attempt_->watch->is_writable()) return Outcome::kNothing;
    const Status outcome = connect_outcome(attempt_->socket, address());
    if (!outcome) return fail(outcome.error());
    is_connected_ = true;
  }
  return purpose_ == Purpose::kLook ? fail(Error(ErrorCode::kIo, "the connection broke")) : greet();
}

Dialler::Outcome Dialler::begin() {
  is_connected_ = false;
  greeting_.reset();
  auto socket = begin_connect(address());
  if (!socket) return fail(socket.error());
  attempt_ = std::make_unique<Connection>(std::move(*socket), station_.reactor);
  attempt_->watch->wait_for_write();
  until_ = deadline_after(station_.clock.now(), attempt_limit());
  Hello hello{.job = station_.facts.key.job(),
              .from = static_cast<std::uint32_t>(station_.facts.member),
              .to = static_cast<std::uint32_t>(other_),
              .session = station_.session,
              .num_taken = num_taken_,
              .rail = rail_,
              .num_rails = station_.options.num_rails,
              .secrecy = station_.options.secrecy};
  value_or_throw(fill_random(hello.nonce));
  greeting_ = std::make_unique<ConnectorGreeting>(station_.facts.key, hello);
  return Outcome::kMoved;
}

const SocketAddress& Dialler::address() const {
  return station_.addresses_of(other_)[turn_];
}

// With several addresses, all of them are tried before the deadline to reconnect.
std::chrono::nanoseconds Dialler::attempt_limit() const {
  const auto num_addresses = static_cast<std::int64_t>(station_.addresses_of(other_).size());
  if (num_addresses == 1) return station_.options.greeting_limit;
  return std::min(station_.options.greeting_limit, station_.options.return_limit / (num_addresses + 1));
}

Dialler::Outcome Dialler::greet() {
  if (!attempt_->watch->is_readable()) return Outcome::kNothing;
  const auto done = greeting_->advance(*attempt_->stream);
  if (!done) return fail(done.error());
  if (*done) return Outcome::kReached;
  attempt_->watch->wait_for_read();
  return Outcome::kNothing;
}

Dialler::Outcome Dialler::fail(const Error& why) {
  const Outcome outcome = is_hopeless(why.root().code()) ? Outcome::kHopeless : Outcome::kFailed;
  why_ = why;
  attempt_.reset();
  turn_ = (turn_ + 1) % station_.addresses_of(other_).size();
  next_at_ = station_.clock.now() + pause_;
  pause_ = std::min(2 * pause_, kLongestRedial);
  return outcome;
}

// Private networks of different hosts may use the same addresses: an answer by another member counts like a
// missing listener.
bool Dialler::is_hopeless(ErrorCode code) {
  const bool has_no_listener = code == ErrorCode::kPeerLost && !is_connected_;
  const bool is_refused = greeting_ && greeting_->is_refused();
  const bool is_another = is_refused && greeting_->welcome().verdict == Welcome::Verdict::kWrongMember;
  if (is_refused && !is_another) return true;
  num_refused_ = has_no_listener || is_another ? num_refused_ + 1 : 0;
  if (!station_.options.listen_first) return false;
  return num_refused_ >= station_.addresses_of(other_).size();
}

}  // namespace cohort::net
