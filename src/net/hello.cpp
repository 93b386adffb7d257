#include "net/hello.h"

#include <cstring>
#include <fmt/format.h>
#include <vector>

namespace cohort::net {
namespace {

constexpr std::uint32_t kChallengeMagic = 0x43484f43;  // "COHC"
constexpr std::uint32_t kHelloMagic = 0x48484f43;      // "COHH"
constexpr std::uint32_t kWelcomeMagic = 0x57484f43;    // "COHW"
constexpr std::string_view kHelloPurpose = "hello";
constexpr std::string_view kWelcomePurpose = "welcome";

template <class T>
void put(std::span<std::byte> bytes, std::size_t offset, const T& value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

template <class T>
T get(std::span<const std::byte> bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

Status check_start(std::span<const std::byte> bytes, std::uint32_t magic) {
  if (get<std::uint32_t>(bytes, 0) != magic) {
    return Error(ErrorCode::kPermission, "it does not begin as one of Cohort's does")
        .with_remedy("Something else listens at that address, or has connected to this one.");
  }
  if (const auto version = get<std::uint8_t>(bytes, 4); version != kHelloVersion) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("it has version {}, this program speaks {}", version, kHelloVersion))
        .with_remedy("Run the same version of Cohort on every host.");
  }
  return {};
}

bool is_zero(std::span<const std::byte> bytes) {
  for (const std::byte byte : bytes) {
    if (byte != std::byte{0}) return false;
  }
  return true;
}

// The nonces first: what is signed is an answer to both.
std::vector<std::byte> signed_part(std::span<const std::byte> message, const Nonce& challenge,
                                   const Nonce& other) {
  std::vector<std::byte> all(challenge.begin(), challenge.end());
  all.insert(all.end(), other.begin(), other.end());
  all.insert(all.end(), message.begin(), message.end());
  return all;
}

Error unsigned_message() {
  return Error(ErrorCode::kPermission, "it is not signed with the key of this job")
      .with_remedy("Give all ranks of a job the same key; ranks of other jobs are refused.");
}

}  // namespace

Secret tls_secret(const JobKey& key, const Nonce& challenge, const Nonce& hello) {
  return key.sign("tls", signed_part({}, challenge, hello));
}

std::array<std::byte, kChallengeBytes> Challenge::encode() const {
  std::array<std::byte, kChallengeBytes> bytes{};
  put(bytes, 0, kChallengeMagic);
  put(bytes, 4, kHelloVersion);
  put(bytes, 8, nonce);
  return bytes;
}

Result<Challenge> Challenge::decode(std::span<const std::byte, kChallengeBytes> bytes) {
  if (Status start = check_start(bytes, kChallengeMagic); !start) {
    return start.error().within("the challenge of a listener cannot be read");
  }
  return Challenge{.nonce = get<Nonce>(bytes, 8)};
}

std::array<std::byte, kHelloBytes> Hello::encode(const JobKey& key, const Nonce& challenge) const {
  std::array<std::byte, kHelloBytes> bytes{};
  put(bytes, 0, kHelloMagic);
  put(bytes, 4, kHelloVersion);
  put(bytes, 5, secrecy);
  put(bytes, 6, lane);
  put(bytes, 8, job);
  put(bytes, 16, from);
  put(bytes, 20, to);
  put(bytes, 24, session);
  put(bytes, 32, num_taken);
  put(bytes, 40, static_cast<std::uint8_t>(num_lanes - 1));
  put(bytes, 64, nonce);
  put(bytes, 96, key.sign(kHelloPurpose, signed_part(std::span(bytes).first(96), challenge, nonce)));
  return bytes;
}

Result<Hello> Hello::decode(std::span<const std::byte, kHelloBytes> bytes, const JobKey& key,
                            const Nonce& challenge) {
  const auto refused = [](const Error& why) { return why.within("a hello was refused"); };
  if (Status start = check_start(bytes, kHelloMagic); !start) return refused(start.error());
  const auto nonce = get<Nonce>(bytes, 64);
  if (!key.verify(kHelloPurpose, signed_part(bytes.first(96), challenge, nonce), get<Mac>(bytes, 96))) {
    return refused(unsigned_message());
  }
  const auto secrecy = get<std::uint8_t>(bytes, 5);
  const auto lane = get<std::uint16_t>(bytes, 6);
  const int num_lanes = get<std::uint8_t>(bytes, 40) + 1;
  if (secrecy > static_cast<std::uint8_t>(Secrecy::kTls) || num_lanes > kMostLanes || lane >= num_lanes ||
      !is_zero(bytes.subspan(41, 23))) {
    return refused(Error(ErrorCode::kCorrupt, "it says what no hello says"));
  }
  return Hello{.job = get<std::uint64_t>(bytes, 8),
               .from = get<std::uint32_t>(bytes, 16),
               .to = get<std::uint32_t>(bytes, 20),
               .session = get<std::uint64_t>(bytes, 24),
               .num_taken = get<std::uint64_t>(bytes, 32),
               .lane = lane,
               .num_lanes = num_lanes,
               .secrecy = static_cast<Secrecy>(secrecy),
               .nonce = nonce};
}

std::array<std::byte, kWelcomeBytes> Welcome::encode(const JobKey& key, const Nonce& challenge,
                                                     const Nonce& hello) const {
  std::array<std::byte, kWelcomeBytes> bytes{};
  put(bytes, 0, kWelcomeMagic);
  put(bytes, 4, kHelloVersion);
  put(bytes, 5, verdict);
  put(bytes, 6, static_cast<std::uint8_t>(num_lanes - 1));
  put(bytes, 8, member);
  put(bytes, 16, session);
  put(bytes, 24, num_taken);
  put(bytes, 48, key.sign(kWelcomePurpose, signed_part(std::span(bytes).first(48), challenge, hello)));
  return bytes;
}

Result<Welcome> Welcome::decode(std::span<const std::byte, kWelcomeBytes> bytes, const JobKey& key,
                                const Nonce& challenge, const Nonce& hello) {
  const auto refused = [](const Error& why) { return why.within("the welcome of a listener was refused"); };
  if (Status start = check_start(bytes, kWelcomeMagic); !start) return refused(start.error());
  if (!key.verify(kWelcomePurpose, signed_part(bytes.first(48), challenge, hello), get<Mac>(bytes, 48))) {
    return refused(unsigned_message());
  }
  const auto verdict = get<std::uint8_t>(bytes, 5);
  if (verdict > static_cast<std::uint8_t>(Verdict::kWrongLanes) || !is_zero(bytes.subspan(32, 16))) {
    return refused(Error(ErrorCode::kCorrupt, "it says what no welcome says"));
  }
  return Welcome{.verdict = static_cast<Verdict>(verdict),
                 .member = get<std::uint32_t>(bytes, 8),
                 .session = get<std::uint64_t>(bytes, 16),
                 .num_taken = get<std::uint64_t>(bytes, 24),
                 .num_lanes = get<std::uint8_t>(bytes, 6) + 1};
}

}  // namespace cohort::net
