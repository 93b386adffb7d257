#include "world/hosts_world.h"

#include "comm/exchange.h"
#include "comm/scheduled/scheduled_communicator.h"
#include "comm/shared_memory/transport.h"
#include "comm/transport/joined.h"
#include "net/own_addresses.h"
#include "net/tcp_transport.h"
#include "world/card.h"
#include "world/locality.h"

#include <algorithm>
#include <cohort/version.h>
#include <fmt/format.h>

namespace cohort::world {

/// A socket, and where it is told to be reached.
struct HostsWorld::Listening {
  Descriptor socket;
  std::vector<net::SocketAddress> addresses;
};

/// Everything below the communicators of one generation.
struct HostsWorld::Foundation {
  Foundation(std::unique_ptr<comm::Neighbours> met, const HostsOptions& options)
      : neighbours(std::move(met)),
        doorbell(reactor, neighbours->doorbell()),
        link_limit(options.link_limit) {}
  ~Foundation() {
    if (!exchange) return;
    progress->remove(*exchange);
    exchange->close();
  }
  void start(std::unique_ptr<comm::Transport> transport) {
    exchange = std::make_unique<comm::Exchange>(std::move(transport), clock,
                                                comm::Exchange::Options{.liveness = link_limit});
    progress = std::make_unique<comm::Progress>(doorbell);
    exchange->open(doorbell);
    progress->add(*exchange);
  }

  RealClock clock;
  net::Reactor reactor;
  std::unique_ptr<comm::Neighbours> neighbours;
  net::BridgedDoorbell doorbell;
  const std::chrono::nanoseconds link_limit;
  std::unique_ptr<comm::Exchange> exchange;
  std::unique_ptr<comm::Progress> progress;
};

namespace {

std::vector<int> members_of(const std::vector<int>& hosts, int host) {
  std::vector<int> members;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    if (hosts[rank] == host) members.push_back(static_cast<int>(rank));
  }
  return members;
}

net::TcpFacts facts_of(const HostsOptions& options, const net::JobKey& key, const std::vector<Card>& cards,
                       const std::vector<int>& hosts) {
  net::TcpFacts facts{.member = options.rank, .members = {}, .key = key};
  const int own_host = hosts[static_cast<std::size_t>(options.rank)];
  for (std::size_t rank = 0; rank < cards.size(); ++rank) {
    facts.members.push_back({.is_apart = hosts[rank] == own_host, .addresses = cards[rank].addresses});
  }
  return facts;
}

std::vector<std::string> doors_of(const std::vector<Card>& cards) {
  std::vector<std::string> doors;
  for (const Card& card : cards) doors.push_back(card.door);
  return doors;
}

}  // namespace

Result<std::vector<std::string>> HostsWorld::gather(std::uint32_t generation, const char* what,
                                                    const std::string& card, TimePoint deadline) {
  return meeting_.gather({.name = fmt::format("{}.{}", generation, what),
                          .rank = options_.rank,
                          .world = options_.world,
                          .deadline = deadline},
                         card);
}

Result<HostsWorld::Listening> HostsWorld::listen() const {
  COHORT_ASSIGN_OR_RETURN(const auto own, net::own_addresses());
  COHORT_ASSIGN_OR_RETURN(auto addresses, net::published_addresses(own, options_.interfaces));
  COHORT_ASSIGN_OR_RETURN(Descriptor socket, net::listen_for(addresses));
  COHORT_ASSIGN_OR_RETURN(const net::SocketAddress bound, net::local_address(socket));
  for (net::SocketAddress& address : addresses) address = address.with_port(bound.port());
  return Listening{std::move(socket), std::move(addresses)};
}

Result<std::unique_ptr<Communicator>> HostsWorld::form(std::uint32_t generation) {
  const TimePoint deadline = deadline_after(std::chrono::steady_clock::now(), options_.meeting_limit);
  if (options_.lanes < 1 || options_.lanes > net::kMostLanes) {
    return Error(ErrorCode::kUsage, fmt::format("hosts cannot be joined by {} lanes", options_.lanes))
        .with_remedy(fmt::format("Use 1 to {}.", net::kMostLanes));
  }
  COHORT_ASSIGN_OR_RETURN(Listening listening, listen());
  COHORT_ASSIGN_OR_RETURN(const Door door, Door::open());
  const Card own{.version = std::string(version()), .door = door.name(), .addresses = listening.addresses};
  COHORT_ASSIGN_OR_RETURN(const auto texts, gather(generation, "cards", own.text(), deadline));
  COHORT_ASSIGN_OR_RETURN(const std::vector<Card> cards, parse_cards(texts, own.version));
  COHORT_ASSIGN_OR_RETURN(const std::vector<int> here, ranks_here(doors_of(cards), options_.rank));
  COHORT_ASSIGN_OR_RETURN(const auto found, gather(generation, "hosts", ranks_to_text(here), deadline));
  COHORT_ASSIGN_OR_RETURN(const std::vector<int> hosts, hosts_of_ranks(found));

  const int own_host = hosts[static_cast<std::size_t>(options_.rank)];
  const std::vector<int> near = members_of(hosts, own_host);
  const auto position = std::find(near.begin(), near.end(), options_.rank) - near.begin();
  COHORT_ASSIGN_OR_RETURN(
      auto neighbours,
      comm::Neighbours::meet(arena_, {.name = cards[static_cast<std::size_t>(near.front())].door + "-",
                                      .rank = static_cast<int>(position),
                                      .world = static_cast<int>(near.size()),
                                      .generation = generation,
                                      .liveness = options_.liveness,
                                      .meeting_limit = options_.meeting_limit}));
  const auto foundation = std::make_shared<Foundation>(std::move(neighbours), options_);
  auto far =
      std::make_unique<net::TcpTransport>(facts_of(options_, key_, cards, hosts), std::move(listening.socket),
                                          foundation->reactor, foundation->clock,
                                          net::TcpOptions{.secrecy = options_.secrecy,
                                                          .first_limit = options_.meeting_limit,
                                                          .return_limit = options_.link_limit,
                                                          .num_lanes = options_.lanes});
  auto near_transport = std::make_unique<comm::SharedMemoryTransport>(*foundation->neighbours);
  foundation->start(std::make_unique<comm::JoinedTransport>(std::move(near_transport), std::move(far), near));
  return comm::ScheduledCommunicator::make_world(
      *foundation->exchange, *foundation->progress,
      {.generation = generation,
       .limit = options_.limit,
       .kind = "hosts",
       .scheduled = {.plan = {.algorithm = options_.algorithm, .hosts = hosts}},
       .foundation = foundation});
}

}  // namespace cohort::world
