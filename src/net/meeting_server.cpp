#include "net/meeting_server.h"

#include "net/meeting_table.h"
#include "net/meeting_wire.h"
#include "net/tcp_transport.h"

#include <map>

namespace cohort::net {

using comm::FrameHeader;

/// Requests as they come from the transport, and what the table says to them.
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

  std::span<std::byte> place(int from, const FrameHeader& header) override {
    if (header.size_bytes > kRequestCap) return {};
    requests[from].resize(header.size_bytes);
    return requests[from];
  }
  void arrived(int from, const FrameHeader& header) override {
    const std::vector<std::byte> request = std::exchange(requests[from], {});
    answer(table.lay_down(from - 1, header.number, request, clock.now()));
  }
  void taken_back(int, const FrameHeader&) override {}
  void lost(int member, const Error&) override { table.forget(member - 1); }

  bool advance() override {
    const auto replies = table.look_at_the_time(clock.now());
    answer(replies);
    return !replies.empty();
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
  std::map<int, std::vector<std::byte>> requests;  // that are coming in
  comm::Progress progress;
};

MeetingServer::MeetingServer(const JobKey& key, Descriptor listener, int world)
    : parts_(std::make_unique<Parts>(key, std::move(listener), world)) {}

MeetingServer::~MeetingServer() = default;

}  // namespace cohort::net
