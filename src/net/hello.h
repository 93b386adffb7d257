#pragma once

#include "net/job_key.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace cohort::net {

// The handshake of a new connection: three messages that prove to both sides that the peer holds the key of
// the job. All numbers are little endian.
//
//     listener                                          connector
//        │  challenge: a fresh nonce  ─────────────────────▶ │
//        │ ◀──────  hello: own member and nonce, MAC over both nonces
//        │  welcome: verdict and member, MAC over both nonces ──────▶ │
//
// Both MACs need the key of the job and both nonces, so a hello of another job or a replayed one is refused.
// A listener reads exactly kHelloBytes before it has verified the peer.

using Nonce = std::array<std::byte, 32>;

inline constexpr std::uint8_t kHelloVersion = 1;
/// The highest number of rails between two members.
inline constexpr int kMostRails = 8;
inline constexpr std::size_t kChallengeBytes = 40;
inline constexpr std::size_t kHelloBytes = 128;
inline constexpr std::size_t kWelcomeBytes = 80;

/// First message of the handshake, from the listener.
struct Challenge {
  Nonce nonce{};

  // magic 4 | version 1 | zero 3 | nonce 32
  std::array<std::byte, kChallengeBytes> encode() const;
  static Result<Challenge> decode(std::span<const std::byte, kChallengeBytes> bytes);
};

/// Whether the connection switches to TLS after the handshake. Both sides must agree.
enum class Secrecy : std::uint8_t { kClear, kTls };

/// The TLS pre-shared key of one connection. It depends on both nonces, so that bytes of one connection
/// cannot be replayed on another.
Secret tls_secret(const JobKey& key, const Nonce& challenge, const Nonce& hello);

/// Second message, from the connector: its identity, and the byte at which the listener's stream resumes.
struct Hello {
  std::uint64_t job = 0;
  std::uint32_t from = 0;       ///< member number of the connector
  std::uint32_t to = 0;         ///< member number that the connector expects of the listener
  std::uint64_t session = 0;    ///< random number of the connector's transport
  std::uint64_t num_taken = 0;  ///< bytes of the listener's stream that the connector has received
  std::uint16_t rail = 0;       ///< rail of this connection, 0 … num_rails − 1
  int num_rails = 1;            ///< rails between the two members
  Secrecy secrecy = Secrecy::kClear;
  Nonce nonce{};

  // magic 4 | version 1 | secrecy 1 | rail 2 | job 8 | from 4 | to 4 | session 8 | num_taken 8 |
  // num_rails - 1: 1 | zero 23 | nonce 32 | MAC 32
  std::array<std::byte, kHelloBytes> encode(const JobKey& key, const Nonce& challenge) const;
  /// kUnsupported for another version; kPermission for a wrong magic, or if the MAC was not made with this
  /// key for this challenge; kCorrupt for a field out of range.
  static Result<Hello> decode(std::span<const std::byte, kHelloBytes> bytes, const JobKey& key,
                              const Nonce& challenge);
};

/// Third message, from the listener: its verdict on the hello.
struct Welcome {
  enum class Verdict : std::uint8_t {
    kAccepted,
    kWrongMember,     ///< the hello names another member or job
    kWrongSecrecy,    ///< one side wants TLS, the other does not
    kUnknownSession,  ///< the listener counts that session as lost
    kWrongRails,      ///< the two sides have different numbers of rails
  };
  Verdict verdict = Verdict::kAccepted;
  std::uint32_t member = 0;
  std::uint64_t session = 0;
  std::uint64_t num_taken = 0;  ///< bytes of the connector's stream that the listener has received
  int num_rails = 1;

  // magic 4 | version 1 | verdict 1 | num_rails - 1: 1 | zero 1 | member 4 | zero 4 | session 8 | num_taken 8
  // | zero 16 | MAC 32
  std::array<std::byte, kWelcomeBytes> encode(const JobKey& key, const Nonce& challenge,
                                              const Nonce& hello) const;
  static Result<Welcome> decode(std::span<const std::byte, kWelcomeBytes> bytes, const JobKey& key,
                                const Nonce& challenge, const Nonce& hello);
};

}  // namespace cohort::net
