#pragma once

#include "net/connection.h"
#include "net/greeting.h"
#include "net/station.h"

#include <chrono>
#include <memory>
#include <optional>

namespace cohort::net {

/// Tries to reach the listener of a member, at one of its addresses after the other, at once and then after
/// longer and longer pauses. Lanes begin at different addresses, so that they take different cables where
/// there are several; who was reached somewhere is tried there first when its connection breaks.
///
/// Threads: one at a time.
/// Failure: a member listens before others know its address, and until it ends: where nobody listens, its
/// process is gone, and trying again is hopeless; so it is when the member refuses us.
class Dialler {
 public:
  enum class Purpose {
    kConnect,  ///< to talk
    kLook,     ///< whether somebody listens: of a member that is to connect to us
  };
  enum class Outcome {
    kNothing,   ///< nothing has happened
    kMoved,     ///< something has, go on
    kReached,   ///< take_connection() and welcome()
    kFailed,    ///< this time: why()
    kHopeless,  ///< for ever: why()
  };

  Dialler(Station& station, int other, std::uint16_t lane);

  /// From now on, beginning at once; who has never been here is looked for only when it takes its time.
  /// `num_taken`: bytes of the other's stream that are here.
  void start(std::uint64_t num_taken);
  void stop();
  Outcome advance();
  /// When advance() is to be called at the latest.
  TimePoint wanted_at() const { return attempt_ ? until_ : next_at_; }

  const Error& why() const { return *why_; }
  const Welcome& welcome() const { return greeting_->welcome(); }
  Secret tls_secret() const { return greeting_->tls_secret(); }
  std::unique_ptr<Connection> take_connection() { return std::move(attempt_); }

 private:
  Outcome begin();
  Outcome greet();
  Outcome fail(const Error& why);
  bool is_hopeless(ErrorCode code);
  const SocketAddress& address() const;
  std::chrono::nanoseconds attempt_limit() const;

  Station& station_;
  const int other_;
  const std::uint16_t lane_;
  const Purpose purpose_;
  std::uint64_t num_taken_ = 0;
  std::unique_ptr<Connection> attempt_;
  std::unique_ptr<ConnectorGreeting> greeting_;
  bool is_connected_ = false;
  std::size_t turn_ = 0;         // which of the addresses is tried
  std::size_t num_refused_ = 0;  // in a row
  TimePoint until_{};
  TimePoint next_at_ = TimePoint::max();
  std::chrono::milliseconds pause_{};
  std::optional<Error> why_;
};

}  // namespace cohort::net
