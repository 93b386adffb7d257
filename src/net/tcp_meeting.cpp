#include "net/tcp_meeting.h"

#include "net/meeting_table.h"
#include "net/tcp_transport.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <optional>

namespace cohort::net {

using comm::FrameHeader;

namespace {

// A meeting has a transport of its own: the server is member 0, rank r is member r + 1, and ranks exchange
// messages with the server only.
constexpr int kMeetingMember = 0;
constexpr std::size_t kRequestCap = 2 * Meeting::kCardCap;

constexpr std::chrono::hours kNever(24 * 365);

TcpOptions meeting_options() {
  return {.secrecy = Secrecy::kTls,
          .first_limit = kNever,
          // A rank is silent between rounds, and comes back to the server for the next one.
          .return_limit = kNever,
          .listen_first = false,
          .leave_limit = std::chrono::milliseconds(100)};
}

// `addresses`: those of the server; empty in the server itself.
TcpFacts meeting_facts(const JobKey& key, int member, int world,
                       const std::vector<SocketAddress>& addresses) {
  TcpFacts facts{.member = member, .members = {}, .key = JobKey(key.derive("meeting"))};
  facts.members.resize(static_cast<std::size_t>(world) + 1);
  facts.members[kMeetingMember].addresses = addresses;
  for (std::size_t other = 1; other < facts.members.size(); ++other) {
    facts.members[other].is_apart = member != kMeetingMember;
  }
  return facts;
}

// A reply has the cards of all ranks.
constexpr std::size_t kReplyCap = std::size_t{1} << 30;
// Clients wait this much longer than the round, so that the server can tell them which ranks are missing.
constexpr std::chrono::milliseconds kGrace{2000};

std::string list_of(const std::vector<SocketAddress>& addresses) {
  std::string text;
  for (const SocketAddress& address : addresses) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", address.text());
  }
  return text;
}

// How often a client that waits asks whether the round is hopeless.
constexpr std::chrono::milliseconds kBetweenLooks{5};

CardRequest request_of(const Round& round, const std::string& card) {
  CardRequest request{.round = round.name, .card = card};
  for (const int member : round.members) request.members.push_back(static_cast<std::uint32_t>(member));
  return request;
}

}  // namespace

/// Passes requests from the transport to the table, and sends the table's replies.
struct MeetingServer::Parts final : comm::FrameSink, comm::Task {
  Parts(const JobKey& key, Descriptor listener, int world)
      : table(world),
        doorbell(reactor),
        transport(meeting_facts(key, kMeetingMember, world, {}), std::move(listener), reactor, clock,
                  meeting_options()),
        progress(doorbell) {
    transport.open(*this, doorbell);
    progress.add(transport);
    progress.add(*this);
  }
  ~Parts() override {
    progress.remove(*this);
    progress.remove(transport);
    transport.close();
  }

  std::span<std::byte> buffer_for(int from, const FrameHeader& header) override {
    if (header.size_bytes > kRequestCap) return {};
    requests[from].resize(header.size_bytes);
    return requests[from];
  }
  void arrived(int from, const FrameHeader& header) override {
    const std::vector<std::byte> request = std::exchange(requests[from], {});
    answer(table.lay_down(from - 1, header.number, request, clock.now()));
  }
  void withdrawn(int, const FrameHeader&) override {}
  void lost(int member, const Error&) override { table.forget(member - 1); }

  bool advance() override {
    const auto replies = table.expire(clock.now());
    answer(replies);
    std::vector<int> news;
    {
      const std::lock_guard lock(mutex);
      news.swap(ended);
    }
    for (const int rank : news) answer(table.end(rank));
    return !replies.empty() || !news.empty();
  }
  TimePoint wanted_at() const override { return table.next_deadline(); }

  void answer(const std::vector<MeetingTable::Reply>& replies) {
    for (const MeetingTable::Reply& reply : replies) {
      const auto kept = std::make_shared<std::vector<std::byte>>(reply.payload);
      transport.send(reply.rank + 1,
                     {.channel = comm::Channel::kReply, .number = reply.number, .size_bytes = kept->size()},
                     *kept, [kept](const Status&) {});
    }
  }

  RealClock clock;
  MeetingTable table;
  Reactor reactor;
  SocketDoorbell doorbell;
  TcpTransport transport;
  std::map<int, std::vector<std::byte>> requests;  // being received, by member
  std::mutex mutex;
  std::vector<int> ended;  // guarded by the mutex: ranks that the table has not heard of yet
  comm::Progress progress;
};

MeetingServer::MeetingServer(const JobKey& key, Descriptor listener, int world)
    : parts_(std::make_unique<Parts>(key, std::move(listener), world)) {}

MeetingServer::~MeetingServer() = default;

void MeetingServer::tell_of_end(int rank) {
  {
    const std::lock_guard lock(parts_->mutex);
    parts_->ended.push_back(rank);
  }
  parts_->progress.wake();
}

struct MeetingClient::Parts final : comm::FrameSink {
  Parts(const JobKey& key, int rank, int size, const std::vector<SocketAddress>& where)
      : addresses(where),
        world(size),
        doorbell(reactor),
        transport(meeting_facts(key, rank + 1, size, where), Descriptor(), reactor, clock,
                  meeting_options()) {
    transport.open(*this, doorbell);
  }

  std::span<std::byte> buffer_for(int, const FrameHeader& header) override {
    if (header.size_bytes > kReplyCap) return {};
    reply.resize(header.size_bytes);
    return reply;
  }
  void arrived(int, const FrameHeader& header) override { num_answered = header.number; }
  void withdrawn(int, const FrameHeader&) override {}
  void lost(int, const Error& why) override { loss = why; }

  std::uint64_t send(CardRequest request) {
    request.world = static_cast<std::uint32_t>(world);
    const auto kept = std::make_shared<std::vector<std::byte>>(request.encode());
    const std::uint64_t number = ++num_asked;
    transport.send(kMeetingMember,
                   {.channel = comm::Channel::kRequest, .number = number, .size_bytes = kept->size()}, *kept,
                   [kept](const Status&) {});
    return number;
  }

  Status wait_for_reply(std::uint64_t number, TimePoint deadline, const Round& round) {
    while (num_answered != number) {
      if (loss) return loss->within(fmt::format("lost the server of the meeting at {}", list_of(addresses)));
      const TimePoint now = clock.now();
      if (now >= deadline) {
        return Error(ErrorCode::kTimedOut,
                     fmt::format("no answer from the server of the meeting at {}", list_of(addresses)))
            .with_remedy("Check that the launcher still runs, and that this host can reach that address.");
      }
      if (const auto error = round.hopeless ? round.hopeless() : std::nullopt) return *error;
      const TimePoint look_at = round.hopeless ? now + kBetweenLooks : deadline;
      if (!transport.advance()) reactor.sleep(std::min({deadline, look_at, transport.wanted_at()}));
    }
    return {};
  }

  Result<std::vector<std::string>> cards(const Round& round) {
    COHORT_ASSIGN_OR_RETURN(std::vector<std::string> all, decode_reply(reply));
    if (all.size() == static_cast<std::size_t>(round.world)) return all;
    return Error(ErrorCode::kCorrupt,
                 fmt::format("reply of the meeting to member {}: {} cards, expected {}, one for each",
                             round.member(round.rank), all.size(), round.world));
  }

  const std::vector<SocketAddress> addresses;
  const int world;
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
  CardRequest request = request_of(round, card);
  const auto wait = std::max(std::chrono::nanoseconds(0), round.deadline - parts_->clock.now());
  request.wait_ms =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(wait).count());
  const std::uint64_t number = parts_->send(request);
  const Status came = parts_->wait_for_reply(number, deadline_after(round.deadline, kGrace), round);
  if (came) return parts_->cards(round);
  if (came.error().code() != ErrorCode::kPeerLost || parts_->loss) return came.error();
  // The round is hopeless: the other ranks need not wait for its deadline.
  request.kind = CardRequest::Kind::kGiveUp;
  request.card = came.error().message();
  (void)parts_->wait_for_reply(parts_->send(request), deadline_after(parts_->clock.now(), kGrace), {});
  return came.error();
}

Result<std::vector<Posting>> MeetingClient::post(const Round& board, const std::string& card) {
  CardRequest request = request_of(board, card);
  request.kind = CardRequest::Kind::kPost;
  const std::uint64_t number = parts_->send(std::move(request));
  COHORT_RETURN_IF_ERROR(parts_->wait_for_reply(number, deadline_after(board.deadline, kGrace), board));
  COHORT_ASSIGN_OR_RETURN(const std::vector<std::string> cards, parts_->cards(board));
  std::vector<Posting> postings;
  for (const std::string& text : cards) {
    COHORT_ASSIGN_OR_RETURN(postings.emplace_back(), parse_posting(text));
  }
  return postings;
}

}  // namespace cohort::net
