#include "net/hello.h"

#include "base/byte_stream.h"

#include <fmt/format.h>
#include <vector>

namespace cohort::net {
namespace {

constexpr std::uint32_t kChallengeMagic = 0x43484f43;  // "COHC"
constexpr std::uint32_t kHelloMagic = 0x48484f43;      // "COHH"
constexpr std::uint32_t kWelcomeMagic = 0x57484f43;    // "COHW"
constexpr std::string_view kHelloPurpose = "hello";
constexpr std::string_view kWelcomePurpose = "welcome";

Status check_start(std::span<const std::byte> bytes, std::uint32_t magic) {
  if (const auto found = get_at<std::uint32_t>(bytes, 0); found != magic) {
    return Error(ErrorCode::kPermission,
                 fmt::format("field magic is {:#010x}, expected {:#010x}", found, magic))
        .with_remedy("Another program listens at that address, or has connected to this one.");
  }
  if (const auto version = get_at<std::uint8_t>(bytes, 4); version != kHelloVersion) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("field version is {}, expected {}", version, kHelloVersion))
        .with_remedy("Run the same version of Cohort on every host.");
  }
  return {};
}

Status check_at_most(const char* field, int found, int most) {
  if (found <= most) return {};
  return Error(ErrorCode::kCorrupt, fmt::format("field {} is {}, expected 0 … {}", field, found, most));
}

Status check_zeros(std::span<const std::byte> bytes, std::size_t first, std::size_t count) {
  for (std::size_t i = first; i < first + count; ++i) {
    if (bytes[i] == std::byte{0}) continue;
    return Error(ErrorCode::kCorrupt, fmt::format("reserved byte {} is {:#04x}, expected 0", i,
                                                  std::to_integer<unsigned>(bytes[i])));
  }
  return {};
}

// The bytes under a MAC: both nonces, then the message.
std::vector<std::byte> signed_part(std::span<const std::byte> message, const Nonce& challenge,
                                   const Nonce& other) {
  std::vector<std::byte> all(challenge.begin(), challenge.end());
  all.insert(all.end(), other.begin(), other.end());
  all.insert(all.end(), message.begin(), message.end());
  return all;
}

Error wrong_mac() {
  return Error(ErrorCode::kPermission, "the MAC does not match the key of this job")
      .with_remedy("Give all ranks of a job the same key; ranks of other jobs are refused.");
}

Status check_hello_fields(std::span<const std::byte> bytes) {
  const int num_others = get_at<std::uint8_t>(bytes, 40);
  COHORT_RETURN_IF_ERROR(check_at_most("secrecy", get_at<std::uint8_t>(bytes, 5), 1));
  COHORT_RETURN_IF_ERROR(check_at_most("further rails", num_others, kMostRails - 1));
  COHORT_RETURN_IF_ERROR(check_at_most("rail", get_at<std::uint16_t>(bytes, 6), num_others));
  return check_zeros(bytes, 41, 23);
}

}  // namespace

Secret tls_secret(const JobKey& key, const Nonce& challenge, const Nonce& hello) {
  return key.sign("tls", signed_part({}, challenge, hello));
}

std::array<std::byte, kChallengeBytes> Challenge::encode() const {
  std::array<std::byte, kChallengeBytes> bytes{};
  put_at(bytes, 0, kChallengeMagic);
  put_at(bytes, 4, kHelloVersion);
  put_at(bytes, 8, nonce);
  return bytes;
}

Result<Challenge> Challenge::decode(std::span<const std::byte, kChallengeBytes> bytes) {
  if (Status start = check_start(bytes, kChallengeMagic); !start) {
    return start.error().within("invalid challenge from the listener");
  }
  return Challenge{.nonce = get_at<Nonce>(bytes, 8)};
}

std::array<std::byte, kHelloBytes> Hello::encode(const JobKey& key, const Nonce& challenge) const {
  std::array<std::byte, kHelloBytes> bytes{};
  put_at(bytes, 0, kHelloMagic);
  put_at(bytes, 4, kHelloVersion);
  put_at(bytes, 5, secrecy);
  put_at(bytes, 6, rail);
  put_at(bytes, 8, job);
  put_at(bytes, 16, from);
  put_at(bytes, 20, to);
  put_at(bytes, 24, session);
  put_at(bytes, 32, num_taken);
  put_at(bytes, 40, static_cast<std::uint8_t>(num_rails - 1));
  put_at(bytes, 64, nonce);
  put_at(bytes, 96, key.sign(kHelloPurpose, signed_part(std::span(bytes).first(96), challenge, nonce)));
  return bytes;
}

Result<Hello> Hello::decode(std::span<const std::byte, kHelloBytes> bytes, const JobKey& key,
                            const Nonce& challenge) {
  const auto refused = [](const Error& why) { return why.within("invalid hello from a connector"); };
  if (Status start = check_start(bytes, kHelloMagic); !start) return refused(start.error());
  const auto nonce = get_at<Nonce>(bytes, 64);
  if (!key.verify(kHelloPurpose, signed_part(bytes.first(96), challenge, nonce), get_at<Mac>(bytes, 96))) {
    return refused(wrong_mac());
  }
  if (Status fields = check_hello_fields(bytes); !fields) {
    return fields.error().within(
        fmt::format("corrupt hello from member {}", get_at<std::uint32_t>(bytes, 16)));
  }
  return Hello{.job = get_at<std::uint64_t>(bytes, 8),
               .from = get_at<std::uint32_t>(bytes, 16),
               .to = get_at<std::uint32_t>(bytes, 20),
               .session = get_at<std::uint64_t>(bytes, 24),
               .num_taken = get_at<std::uint64_t>(bytes, 32),
               .rail = get_at<std::uint16_t>(bytes, 6),
               .num_rails = get_at<std::uint8_t>(bytes, 40) + 1,
               .secrecy = static_cast<Secrecy>(get_at<std::uint8_t>(bytes, 5)),
               .nonce = nonce};
}

std::array<std::byte, kWelcomeBytes> Welcome::encode(const JobKey& key, const Nonce& challenge,
                                                     const Nonce& hello) const {
  std::array<std::byte, kWelcomeBytes> bytes{};
  put_at(bytes, 0, kWelcomeMagic);
  put_at(bytes, 4, kHelloVersion);
  put_at(bytes, 5, verdict);
  put_at(bytes, 6, static_cast<std::uint8_t>(num_rails - 1));
  put_at(bytes, 8, member);
  put_at(bytes, 16, session);
  put_at(bytes, 24, num_taken);
  put_at(bytes, 48, key.sign(kWelcomePurpose, signed_part(std::span(bytes).first(48), challenge, hello)));
  return bytes;
}

Result<Welcome> Welcome::decode(std::span<const std::byte, kWelcomeBytes> bytes, const JobKey& key,
                                const Nonce& challenge, const Nonce& hello) {
  const auto refused = [](const Error& why) { return why.within("invalid welcome from the listener"); };
  if (Status start = check_start(bytes, kWelcomeMagic); !start) return refused(start.error());
  if (!key.verify(kWelcomePurpose, signed_part(bytes.first(48), challenge, hello), get_at<Mac>(bytes, 48))) {
    return refused(wrong_mac());
  }
  const auto verdict = get_at<std::uint8_t>(bytes, 5);
  Status fields = check_at_most("verdict", verdict, static_cast<int>(Verdict::kWrongRails));
  if (fields) fields = check_zeros(bytes, 32, 16);
  if (!fields) {
    return fields.error().within(
        fmt::format("corrupt welcome from member {}", get_at<std::uint32_t>(bytes, 8)));
  }
  return Welcome{.verdict = static_cast<Verdict>(verdict),
                 .member = get_at<std::uint32_t>(bytes, 8),
                 .session = get_at<std::uint64_t>(bytes, 16),
                 .num_taken = get_at<std::uint64_t>(bytes, 24),
                 .num_rails = get_at<std::uint8_t>(bytes, 6) + 1};
}

}  // namespace cohort::net
