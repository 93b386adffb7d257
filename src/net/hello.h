#pragma once

#include "net/job_key.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace cohort::net {

// How two members of a job find out that they are, before anything else is read. All little endian.
//
//     listener                                          connector
//        │  challenge: a number never used before  ────────▶ │
//        │ ◀────────  hello: who I am, signed with both numbers
//        │  welcome: who I am, signed with both numbers ────▶ │
//
// Both signatures need the key of the job and both random numbers, so neither a hello of another job nor one
// that was recorded is good for anything. A listener reads exactly kHelloBytes before it has verified them.

using Nonce = std::array<std::byte, 32>;

inline constexpr std::uint8_t kHelloVersion = 1;
/// Connections between two members, at most.
inline constexpr int kMostLanes = 8;
inline constexpr std::size_t kChallengeBytes = 40;
inline constexpr std::size_t kHelloBytes = 128;
inline constexpr std::size_t kWelcomeBytes = 80;

/// What the listener says first.
struct Challenge {
  Nonce nonce{};

  // magic 4 | version 1 | zero 3 | nonce 32
  std::array<std::byte, kChallengeBytes> encode() const;
  static Result<Challenge> decode(std::span<const std::byte, kChallengeBytes> bytes);
};

/// Whether bytes on the connection are encrypted afterwards. Both sides must want the same.
enum class Secrecy : std::uint8_t { kClear, kTls };

/// What one connection is encrypted with: nobody can join the ends of two.
Secret tls_secret(const JobKey& key, const Nonce& challenge, const Nonce& hello);

/// Who has connected, and where the traffic of an earlier connection is to go on.
struct Hello {
  std::uint64_t job = 0;
  std::uint32_t from = 0;       ///< member
  std::uint32_t to = 0;         ///< the member it believes to talk to
  std::uint64_t session = 0;    ///< drawn when a transport is made: another one is another process
  std::uint64_t num_taken = 0;  ///< bytes of the listener's stream it has
  std::uint16_t lane = 0;       ///< which of the connections between the two
  int num_lanes = 1;            ///< how many of them there are to be
  Secrecy secrecy = Secrecy::kClear;
  Nonce nonce{};

  // magic 4 | version 1 | secrecy 1 | lane 2 | job 8 | from 4 | to 4 | session 8 | num_taken 8 |
  // num_lanes - 1: 1 | zero 23 | nonce 32 | MAC 32
  std::array<std::byte, kHelloBytes> encode(const JobKey& key, const Nonce& challenge) const;
  /// kUnsupported for another version, kPermission for whatever the holder of the key has not said in answer
  /// to this challenge.
  static Result<Hello> decode(std::span<const std::byte, kHelloBytes> bytes, const JobKey& key,
                              const Nonce& challenge);
};

/// What the listener makes of it.
struct Welcome {
  enum class Verdict : std::uint8_t {
    kAccepted,
    kWrongMember,     ///< the hello is meant for another one
    kWrongSecrecy,    ///< one side wants TLS, the other does not
    kUnknownSession,  ///< that session is over: the member counts as lost
    kWrongLanes,      ///< the two do not want the same number of lanes
  };
  Verdict verdict = Verdict::kAccepted;
  std::uint32_t member = 0;
  std::uint64_t session = 0;
  std::uint64_t num_taken = 0;  ///< bytes of the connector's stream it has
  int num_lanes = 1;

  // magic 4 | version 1 | verdict 1 | num_lanes - 1: 1 | zero 1 | member 4 | zero 4 | session 8 | num_taken 8
  // | zero 16 | MAC 32
  std::array<std::byte, kWelcomeBytes> encode(const JobKey& key, const Nonce& challenge,
                                              const Nonce& hello) const;
  static Result<Welcome> decode(std::span<const std::byte, kWelcomeBytes> bytes, const JobKey& key,
                                const Nonce& challenge, const Nonce& hello);
};

}  // namespace cohort::net
