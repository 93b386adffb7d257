#include "net/meeting_client.h"

#include "net/meeting_table.h"
#include "net/meeting_wire.h"
#include "net/tcp_transport.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace cohort::net {
namespace {

using comm::FrameHeader;

// Of what all say there is more than of what one says.
constexpr std::size_t kReplyCap = std::size_t{1} << 30;
// For the server to say who is missing.
constexpr std::chrono::milliseconds kGrace{2000};

std::string places(const std::vector<SocketAddress>& addresses) {
  std::string text;
  for (const SocketAddress& address : addresses) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", address.text());
  }
  return text;
}

}  // namespace

struct MeetingClient::Parts final : comm::FrameSink {
  Parts(const JobKey& key, int rank, int world, const std::vector<SocketAddress>& where)
      : addresses(where),
        doorbell(reactor),
        transport(meeting_facts(key, rank + 1, world, where), Descriptor(), reactor, clock,
                  meeting_options()) {
    transport.open(*this, doorbell);
  }

  std::span<std::byte> place(int, const FrameHeader& header) override {
    if (header.size_bytes > kReplyCap) return {};
    reply.resize(header.size_bytes);
    return reply;
  }
  void arrived(int, const FrameHeader& header) override { num_answered = header.number; }
  void taken_back(int, const FrameHeader&) override {}
  void lost(int, const Error& why) override { loss = why; }

  Status wait_for_reply(std::uint64_t number, TimePoint deadline) {
    while (num_answered != number) {
      if (loss) return loss->within(fmt::format("the meeting at {} is over", places(addresses)));
      if (clock.now() >= deadline) {
        return Error(ErrorCode::kTimedOut, fmt::format("nobody answers at {}", places(addresses)))
            .with_remedy("Look whether the launcher still runs and its host can be reached at that address.");
      }
      if (!transport.advance()) reactor.sleep(std::min(deadline, transport.wanted_at()));
    }
    return {};
  }

  const std::vector<SocketAddress> addresses;
  RealClock clock;
  Reactor reactor;
  SocketDoorbell doorbell;
  std::vector<std::byte> reply;
  std::uint64_t num_answered = 0;
  std::uint64_t num_asked = 0;
  std::optional<Error> loss;
  TcpTransport transport;
};

MeetingClient::MeetingClient(const JobKey& key, int rank, int world,
                             const std::vector<SocketAddress>& addresses)
    : parts_(std::make_unique<Parts>(key, rank, world, addresses)) {}

MeetingClient::~MeetingClient() = default;

Result<std::vector<std::string>> MeetingClient::gather(const Round& round, const std::string& card) {
  const auto wait = std::max(std::chrono::nanoseconds(0), round.deadline - parts_->clock.now());
  const std::vector<std::byte> request =
      CardRequest{.round = round.name,
                  .world = static_cast<std::uint32_t>(round.world),
                  .wait_ms = static_cast<std::uint64_t>(
                      std::chrono::duration_cast<std::chrono::milliseconds>(wait).count()),
                  .card = card}
          .encode();
  const auto kept = std::make_shared<std::vector<std::byte>>(request);
  const std::uint64_t number = ++parts_->num_asked;
  parts_->transport.send(kMeetingMember,
                         {.channel = comm::Channel::kRequest, .number = number, .size_bytes = kept->size()},
                         *kept, [kept](const Status&) {});
  COHORT_RETURN_IF_ERROR(parts_->wait_for_reply(number, deadline_after(round.deadline, kGrace)));
  COHORT_ASSIGN_OR_RETURN(std::vector<std::string> cards, decode_reply(parts_->reply));
  if (cards.size() != static_cast<std::size_t>(round.world)) {
    return Error(ErrorCode::kCorrupt, fmt::format("{} cards came for {} ranks", cards.size(), round.world));
  }
  return cards;
}

}  // namespace cohort::net
