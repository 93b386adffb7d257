#pragma once

#include "net/hello.h"
#include "net/stream.h"

#include <functional>
#include <optional>
#include <vector>

namespace cohort::net {

/// The handshake of a connection (net/hello.h) without blocking. Reads exactly the bytes of the handshake:
/// the bytes behind it stay in the stream.
///
/// Threads: one at a time.
/// Failure: advance() returns kPermission for a peer without the job's key, kUnsupported for another version,
/// kCorrupt for a field out of range, the error of the stream, or the peer's reason to refuse. The caller
/// closes the connection then.
class Greeting {
 public:
  virtual ~Greeting() = default;
  /// Reads and writes what it can. True once the handshake is complete.
  Result<bool> advance(Stream& stream);

 protected:
  /// Queues bytes; they are written before the next read.
  void say(std::span<const std::byte> bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  /// Sets the size of the next message to read; 0 ends the handshake.
  void expect(std::size_t size_bytes) { in_.resize(size_bytes), num_in_ = 0; }
  /// Handles a message of the expected size.
  virtual Status heard(std::span<const std::byte> message) = 0;

 private:
  std::vector<std::byte> out_;
  std::size_t num_out_ = 0;
  std::vector<std::byte> in_;
  std::size_t num_in_ = 0;
};

/// The listener's side of the handshake.
///
/// Threads: one at a time.
/// Lifetime: the key must outlive the greeting.
class ListenerGreeting final : public Greeting {
 public:
  /// Decides on a hello whose MAC is right.
  using Judge = std::function<Welcome(const Hello&)>;

  ListenerGreeting(const JobKey& key, const Nonce& nonce, Judge judge);
  const std::optional<Hello>& hello() const { return hello_; }
  /// The TLS pre-shared key of this connection. Valid once hello() is.
  Secret tls_secret() const { return net::tls_secret(key_, nonce_, hello_->nonce); }
  const Welcome& welcome() const { return welcome_; }

 private:
  Status heard(std::span<const std::byte> message) override;

  const JobKey& key_;
  const Nonce nonce_;
  const Judge judge_;
  std::optional<Hello> hello_;
  Welcome welcome_;
};

/// The connector's side of the handshake. `hello` comes with its nonce.
///
/// Threads: one at a time.
/// Lifetime: the key must outlive the greeting.
class ConnectorGreeting final : public Greeting {
 public:
  ConnectorGreeting(const JobKey& key, const Hello& hello);
  const Welcome& welcome() const { return welcome_; }
  /// The TLS pre-shared key of this connection. Valid once advance() has returned true.
  Secret tls_secret() const { return net::tls_secret(key_, challenge_->nonce, hello_.nonce); }
  /// The peer holds the job's key and has refused this member.
  bool is_refused() const { return welcome_.verdict != Welcome::Verdict::kAccepted; }

 private:
  Status heard(std::span<const std::byte> message) override;

  const JobKey& key_;
  const Hello hello_;
  std::optional<Challenge> challenge_;
  Welcome welcome_;
};

}  // namespace cohort::net
