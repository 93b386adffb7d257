#include "bench/bench_communicator.h"

#include "comm/exchange/exchange.h"
#include "comm/message_passing/communicator.h"
#include "net/file_meeting.h"
#include "net/tcp_transport.h"
#include "storage/local_file_system.h"

#include <fmt/format.h>
#include <thread>

namespace cohort::tool {
namespace {

using namespace std::chrono_literals;

constexpr auto kMeetingLimit = 30s;

/// The objects that the communicator needs.
struct Foundation {
  ~Foundation() {
    if (!exchange) return;
    progress->remove(*exchange);
    exchange->close();
  }
  RealClock clock;
  net::Reactor reactor;
  net::SocketDoorbell doorbell{reactor};
  std::unique_ptr<comm::Exchange> exchange;
  std::unique_ptr<comm::Progress> progress;
};

// Rank 0 creates the key; no other user can read the folder.
Result<net::JobKey> common_key(const BenchSeat& seat, const std::string& path, TimePoint deadline) {
  if (seat.rank == 0) {
    COHORT_ASSIGN_OR_RETURN(const net::JobKey key, net::JobKey::make());
    COHORT_RETURN_IF_ERROR(key.write(path + ".new"));
    LocalFileSystem files;
    COHORT_RETURN_IF_ERROR(files.rename(path + ".new", path));
    return key;
  }
  while (true) {
    const auto key = net::JobKey::read(path);
    if (key || std::chrono::steady_clock::now() >= deadline) return key;
    std::this_thread::sleep_for(2ms);
  }
}

}  // namespace

Result<BenchCommunicator> make_tcp_communicator(const BenchSeat& seat, net::Secrecy secrecy) {
  const TimePoint deadline = deadline_after(std::chrono::steady_clock::now(), kMeetingLimit);
  const std::string folder = fmt::format("{}/{}", seat.folder, secrecy == net::Secrecy::kTls ? "tls" : "tcp");
  LocalFileSystem files;
  COHORT_RETURN_IF_ERROR(files.make_directories(folder));
  COHORT_ASSIGN_OR_RETURN(const net::JobKey key, common_key(seat, folder + "/key", deadline));
  COHORT_ASSIGN_OR_RETURN(Descriptor listener, net::listen_at(*net::SocketAddress::parse("127.0.0.1:0")));
  COHORT_ASSIGN_OR_RETURN(const net::SocketAddress own, net::local_address(listener));
  net::FileMeeting meeting(key, files, folder);
  const net::Round round{.name = "0", .rank = seat.rank, .world = seat.ranks, .deadline = deadline};
  COHORT_ASSIGN_OR_RETURN(const auto cards, meeting.gather(round, own.text()));
  net::TcpFacts facts{.member = seat.rank, .members = {}, .key = key};
  for (const std::string& card : cards) {
    COHORT_ASSIGN_OR_RETURN(const net::SocketAddress address, net::SocketAddress::parse(card));
    facts.members.push_back({.addresses = {address}});
  }
  COHORT_RETURN_IF_ERROR(
      meeting.gather({.name = "1", .rank = seat.rank, .world = seat.ranks, .deadline = deadline}, ""));

  const auto foundation = std::make_shared<Foundation>();
  foundation->exchange = std::make_unique<comm::Exchange>(
      std::make_unique<net::TcpTransport>(std::move(facts), std::move(listener), foundation->reactor,
                                          foundation->clock, net::TcpOptions{.secrecy = secrecy}),
      foundation->clock, comm::Exchange::Options{.liveness = 5s});
  foundation->progress = std::make_unique<comm::Progress>(foundation->doorbell);
  foundation->exchange->open(foundation->doorbell);
  foundation->progress->add(*foundation->exchange);
  BenchCommunicator bench;
  COHORT_ASSIGN_OR_RETURN(bench.arena, Arena::create());
  bench.memory = std::make_unique<BenchMemory>(*bench.arena);
  COHORT_ASSIGN_OR_RETURN(bench.group, comm::MessagePassingCommunicator::make_world(
                                           *foundation->exchange, *foundation->progress,
                                           {.name = "bench", .kind = "tcp", .foundation = foundation}));
  return bench;
}

}  // namespace cohort::tool
