#pragma once

#include "net/hello.h"
#include "net/stream.h"

#include <functional>
#include <optional>
#include <vector>

namespace cohort::net {

/// How a connection begins, on both sides (net/hello.h). It goes on whenever it is asked, and is read from
/// the stream to the byte: what follows is left there.
///
/// Threads: one at a time.
/// Failure: advance() says kPermission for a stranger, kUnsupported for another version, what the stream
/// says, and what the other side has against us. The connection is to be closed then.
class Greeting {
 public:
  virtual ~Greeting() = default;
  /// Does what can be done now. True when all is said.
  Result<bool> advance(Stream& stream);

 protected:
  /// Bytes to write before anything else is read.
  void say(std::span<const std::byte> bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  /// The next message has so many bytes; 0: there is none.
  void expect(std::size_t size_bytes) { in_.resize(size_bytes), num_in_ = 0; }
  /// A message that was expected is there.
  virtual Status heard(std::span<const std::byte> message) = 0;

 private:
  std::vector<std::byte> out_;
  std::size_t num_out_ = 0;
  std::vector<std::byte> in_;
  std::size_t num_in_ = 0;
};

/// That of the side which was connected to.
class ListenerGreeting final : public Greeting {
 public:
  /// What to answer to a hello that is signed as it should be.
  using Judge = std::function<Welcome(const Hello&)>;

  ListenerGreeting(const JobKey& key, const Nonce& nonce, Judge judge);
  const std::optional<Hello>& hello() const { return hello_; }
  /// See tls_secret(); once the hello is there.
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

/// That of the side which connects. `hello` has its nonce already.
class ConnectorGreeting final : public Greeting {
 public:
  ConnectorGreeting(const JobKey& key, const Hello& hello);
  const Welcome& welcome() const { return welcome_; }
  /// See tls_secret(); once the challenge is there.
  Secret tls_secret() const { return net::tls_secret(key_, challenge_->nonce, hello_.nonce); }
  /// The other side knows us, and does not want us.
  bool is_refused() const { return welcome_.verdict != Welcome::Verdict::kAccepted; }

 private:
  Status heard(std::span<const std::byte> message) override;

  const JobKey& key_;
  const Hello hello_;
  std::optional<Challenge> challenge_;
  Welcome welcome_;
};

}  // namespace cohort::net
