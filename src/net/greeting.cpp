#include "net/greeting.h"

#include <fmt/format.h>

namespace cohort::net {
namespace {

Error refusal(const Welcome& welcome, const Hello& hello) {
  using Verdict = Welcome::Verdict;
  switch (welcome.verdict) {
    case Verdict::kWrongMember:
      return Error(ErrorCode::kUsage, fmt::format("member {} listens at that address, expected member {}",
                                                  welcome.member, hello.to))
          .with_remedy("Two members have published each other's address, or an old one is in use.");
    case Verdict::kWrongSecrecy:
      return Error(ErrorCode::kUsage, hello.secrecy == Secrecy::kTls
                                          ? "the peer does not encrypt, this member does"
                                          : "the peer encrypts, this member does not")
          .with_remedy("Turn encryption on, or off, for all members of the job.");
    case Verdict::kWrongRails:
      return Error(ErrorCode::kUsage,
                   fmt::format("the peer has {} rails, this member {}", welcome.num_rails, hello.num_rails))
          .with_remedy("Give all ranks the same number of sockets: [communication] sockets, COHORT_SOCKETS.");
    default:
      return Error(ErrorCode::kPeerLost, "the peer counts this member as lost");
  }
}

}  // namespace

Result<bool> Greeting::advance(Stream& stream) {
  while (true) {
    if (num_out_ < out_.size()) {
      const iovec part{out_.data() + num_out_, out_.size() - num_out_};
      COHORT_ASSIGN_OR_RETURN(const std::size_t put, stream.write({&part, 1}));
      if (put == 0) return false;
      num_out_ += put;
      continue;
    }
    if (in_.empty()) return true;
    const iovec part{in_.data() + num_in_, in_.size() - num_in_};
    COHORT_ASSIGN_OR_RETURN(const std::size_t got, stream.read({&part, 1}));
    if (got == 0) return false;
    num_in_ += got;
    if (num_in_ < in_.size()) continue;
    const std::vector<std::byte> message = std::exchange(in_, {});
    COHORT_RETURN_IF_ERROR(heard(message));
  }
}

ListenerGreeting::ListenerGreeting(const JobKey& key, const Nonce& nonce, Judge judge)
    : key_(key), nonce_(nonce), judge_(std::move(judge)) {
  say(Challenge{nonce_}.encode());
  expect(kHelloBytes);
}

Status ListenerGreeting::heard(std::span<const std::byte> message) {
  COHORT_ASSIGN_OR_RETURN(const Hello hello, Hello::decode(message.first<kHelloBytes>(), key_, nonce_));
  hello_ = hello;
  welcome_ = judge_(hello);
  say(welcome_.encode(key_, nonce_, hello.nonce));
  return {};
}

ConnectorGreeting::ConnectorGreeting(const JobKey& key, const Hello& hello) : key_(key), hello_(hello) {
  expect(kChallengeBytes);
}

Status ConnectorGreeting::heard(std::span<const std::byte> message) {
  const std::string handshake = fmt::format("the handshake with member {} failed", hello_.to);
  if (!challenge_) {
    COHORT_ASSIGN_OR_RETURN(challenge_,
                            Challenge::decode(message.first<kChallengeBytes>()).within(handshake));
    say(hello_.encode(key_, challenge_->nonce));
    expect(kWelcomeBytes);
    return {};
  }
  COHORT_ASSIGN_OR_RETURN(
      welcome_, Welcome::decode(message.first<kWelcomeBytes>(), key_, challenge_->nonce, hello_.nonce)
                    .within(handshake));
  if (welcome_.verdict != Welcome::Verdict::kAccepted) {
    return refusal(welcome_, hello_).within(fmt::format("member {} refuses the connection", hello_.to));
  }
  return {};
}

}  // namespace cohort::net
