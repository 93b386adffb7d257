#pragma once

#include "net/greeting.h"
#include "net/station.h"
#include "net/stream.h"

#include <chrono>
#include <memory>
#include <optional>

namespace cohort::net {

/// Connects to the listener of a member: tries its addresses in turn, with exponential backoff. Each rail
/// begins at another address, so that rails use different cables if there are several. After a break the
/// address that worked last is tried first.
///
/// Threads: one at a time.
/// Lifetime: the station must outlive the dialler.
/// Failure: a member listens from before others know its address until its process ends. If no address has a
/// listener, the process is gone and the outcome is kHopeless; so is a refusal by the member itself.
class Dialler {
 public:
  enum class Purpose {
    kConnect,  ///< makes the connection: the peer has a lower member number
    kLook,     ///< checks that the peer, which has to connect to this member, still has a listener
  };
  enum class Outcome {
    kNothing,   ///< no progress
    kMoved,     ///< progress: call advance() again
    kReached,   ///< connected: take_connection() and welcome() are valid
    kFailed,    ///< this attempt failed, see why(); another one follows
    kHopeless,  ///< further attempts are pointless, see why()
  };

  Dialler(Station& station, int other, std::uint16_t rail);

  /// Starts trying, at once. The first kLook of a peer that has never connected waits for half a second.
  /// `num_taken`: bytes of the peer's stream received so far.
  void start(std::uint64_t num_taken);
  void stop();
  Outcome advance();
  /// The latest time for the next call of advance().
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
  const std::uint16_t rail_;
  const Purpose purpose_;
  std::uint64_t num_taken_ = 0;
  std::unique_ptr<Connection> attempt_;
  std::unique_ptr<ConnectorGreeting> greeting_;
  bool is_connected_ = false;
  std::size_t turn_ = 0;         // index of the address that is tried
  std::size_t num_refused_ = 0;  // consecutive attempts without a listener
  TimePoint until_{};
  TimePoint next_at_ = TimePoint::max();
  std::chrono::milliseconds pause_{};
  std::optional<Error> why_;
};

}  // namespace cohort::net
