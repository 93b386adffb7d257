#include "world/hosts_world.h"

#include "comm/exchange/exchange.h"
#include "comm/message_passing/communicator.h"
#include "comm/progress/relayed_doorbell.h"
#include "comm/shared_memory/communicator.h"
#include "comm/shared_memory/host_groups.h"
#include "comm/shared_memory/transport.h"
#include "comm/transport/joined.h"
#include "storage/local_file_system.h"
#include "world/card.h"
#include "world/locality.h"

#include <algorithm>
#include <cohort/version.h>
#include <fmt/format.h>
#include <numeric>

namespace cohort::world {

/// The transport, exchange and progress thread that the communicators of one generation share.
struct HostsWorld::Foundation final : comm::Engine {
  Foundation(std::unique_ptr<comm::Neighbours> met, std::vector<int> ranks_here,
             std::unique_ptr<FarPort> opened)
      : neighbours(std::move(met)),
        near(std::move(ranks_here)),
        port(std::move(opened)),
        doorbell(make_doorbell()) {}
  ~Foundation() override {
    if (!exchange) return;
    progress->remove(*exchange);
    exchange->close();
  }
  // A rank that is alone on its host sleeps on the network's doorbell itself: one thread switch instead of
  // three.
  std::unique_ptr<comm::Doorbell> make_doorbell() {
    auto far = port->make_doorbell();
    if (neighbours->size() == 1) return far;
    return std::make_unique<comm::RelayedDoorbell>(std::move(far), neighbours->doorbell());
  }
  void start(std::unique_ptr<comm::Transport> transport, const HostsOptions& options) {
    exchange = std::make_unique<comm::Exchange>(
        std::move(transport), clock,
        comm::Exchange::Options{.liveness = options.link_limit, .warn = options.warn});
    progress = std::make_unique<comm::Progress>(*doorbell);
    exchange->open(*doorbell);
    progress->add(*exchange);
  }

  void end(const Error& why) override {
    exchange->end(why, comm::Ending::kTold);
    neighbours->end(why);
  }
  Status close(const Error& why, TimePoint deadline) override {
    exchange->end(why, comm::Ending::kQuiet);
    progress->stop();
    exchange->close();
    return neighbours->close(why, deadline);
  }
  // A connection that broke says little about the process behind it: the ranks of its host know better.
  std::vector<comm::Loss> losses() const override {
    std::vector<comm::Loss> losses;
    for (const comm::Loss& loss : neighbours->losses()) {
      losses.push_back({near[static_cast<std::size_t>(loss.member)], loss.kind});
    }
    for (int rank = 0; rank < exchange->num_members(); ++rank) {
      const bool is_near = std::find(near.begin(), near.end(), rank) != near.end();
      if (!is_near && exchange->loss(rank)) losses.push_back({rank, comm::Loss::Kind::kSilent});
    }
    return losses;
  }

  RealClock clock;
  std::unique_ptr<comm::Neighbours> neighbours;
  const std::vector<int> near;  // the ranks of this host, by their numbers among the neighbours
  std::unique_ptr<FarPort> port;
  std::unique_ptr<comm::Doorbell> doorbell;
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

std::vector<std::string> doors_of(const std::vector<Card>& cards) {
  std::vector<std::string> doors;
  for (const Card& card : cards) doors.push_back(card.door);
  return doors;
}

// Slower links are paced: 4 Gbit/s.
constexpr double kPacedBytesPerSecond = 500e6;
// The share of the measured rate for payload: acknowledgements of the other direction need the rest.
constexpr double kPacedShare = 0.99;

// Several rails are used if they carry at least this much more than one.
constexpr double kWorthMoreRails = 1.15;

net::Striping striping_for(int sockets) {
  return sockets > 1 ? net::Striping::kAllRails : net::Striping::kNone;
}

// Time limit of one round of measurements, enough for a slow link.
constexpr std::chrono::seconds kRoundLimit{5};

// Addresses without ports, which differ from process to process.
std::vector<std::string> hosts_of(const std::vector<net::SocketAddress>& addresses) {
  std::vector<std::string> texts;
  for (const net::SocketAddress& address : addresses) texts.push_back(address.with_port(0).text());
  return texts;
}

// The members of a job in the order of their numbers, as a meeting answers them unless told otherwise.
std::vector<int> all_members(int world) {
  std::vector<int> members(static_cast<std::size_t>(world));
  std::iota(members.begin(), members.end(), 0);
  return members;
}

std::string way_of(const HostsOptions& options, int sockets) {
  if (options.links.backend == Backend::kUcx) return "ucx";
  return fmt::format("tcp-{}-{}", options.secrecy == net::Secrecy::kTls ? "tls" : "clear", sockets);
}

}  // namespace

Result<std::vector<std::string>> HostsWorld::gather(const Part& part, const char* what,
                                                    const std::string& card, TimePoint deadline) {
  net::Round round{.name = fmt::format("{}.{}", part.generation, what),
                   .rank = part.rank,
                   .world = part.size(),
                   .deadline = deadline,
                   .hopeless = part.hopeless};
  if (part.members != all_members(options_.world)) round.members = part.members;
  return meeting_.gather(round, card);
}

Result<std::unique_ptr<FarPort>> HostsWorld::open_port() const {
  const bool is_ucx = options_.links.backend == Backend::kUcx;
  return is_ucx ? open_ucx_port(options_) : open_tcp_port(options_, key_);
}

Result<HostsWorld::Roster> HostsWorld::meet(const Part& part, const FarPort& port) {
  const TimePoint deadline = deadline_after(std::chrono::steady_clock::now(), options_.meeting_limit);
  COHORT_ASSIGN_OR_RETURN(const Door door, Door::open());
  Card own{
      .version = std::string(version()), .door = door.name(), .schedules = schedules_text(options_.links)};
  own.members = part.checksum;
  port.sign(own);
  COHORT_ASSIGN_OR_RETURN(const auto texts, gather(part, "cards", own.text(), deadline));
  Roster roster;
  COHORT_ASSIGN_OR_RETURN(roster.cards, parse_cards(texts, own));
  COHORT_ASSIGN_OR_RETURN(const auto here, ranks_here(doors_of(roster.cards), part.rank));
  COHORT_ASSIGN_OR_RETURN(const auto found, gather(part, "hosts", ranks_to_text(here), deadline));
  COHORT_ASSIGN_OR_RETURN(roster.hosts, hosts_of_ranks(found));
  roster.near = members_of(roster.hosts, roster.hosts[static_cast<std::size_t>(part.rank)]);
  return roster;
}

Result<std::unique_ptr<comm::Neighbours>> HostsWorld::meet_neighbours(const Part& part,
                                                                      const Roster& roster) {
  const std::vector<int>& near = roster.near;
  const auto position = std::find(near.begin(), near.end(), part.rank) - near.begin();
  COHORT_ASSIGN_OR_RETURN(
      auto neighbours,
      comm::Neighbours::meet(arena_,
                             {.rendezvous = roster.cards[static_cast<std::size_t>(near.front())].door + "-",
                              .facts = {.rank = static_cast<int>(position),
                                        .world = static_cast<int>(near.size()),
                                        .generation = part.generation,
                                        .global_ranks = near},
                              .liveness = options_.liveness,
                              .meeting_limit = options_.meeting_limit,
                              .members = part.checksum,
                              .hopeless = part.hopeless,
                              .warn = options_.warn}));
  if (part.on_met) part.on_met(*neighbours, near);
  return neighbours;
}

// Measures in a group of its own, which is destroyed before the group of all ranks is made.
Result<Pricing> HostsWorld::find_prices(const std::shared_ptr<Foundation>& foundation, const Part& part,
                                        const Roster& roster, int rails) const {
  // Ranks that have no part in a round wait for those that measure.
  const int num_hosts = *std::max_element(roster.hosts.begin(), roster.hosts.end()) + 1;
  const auto limit = std::max(options_.limit, options_.meeting_limit) + num_hosts * kRoundLimit;
  COHORT_ASSIGN_OR_RETURN(const auto group, comm::MessagePassingCommunicator::make_world(
                                                *foundation->exchange, *foundation->progress,
                                                {.name = "links",
                                                 .group = comm::MessagePassingCommunicator::kLinksGroup,
                                                 .generation = part.generation,
                                                 .limit = limit,
                                                 .message_passing = {.plan = {.hosts = roster.hosts}},
                                                 .foundation = foundation}));
  LocalFileSystem files;
  LinkCache cache(files, options_.link_cache);
  const Card& own = roster.cards[static_cast<std::size_t>(part.rank)];
  const auto price = [&](int sockets) -> Result<Pricing> {
    foundation->port->set_striping(striping_for(sockets));
    COHORT_RETURN_IF_ERROR(group->run(barrier()));
    COHORT_ASSIGN_OR_RETURN(Pricing pricing, fit_prices(*group, cache,
                                                        {.hosts = roster.hosts,
                                                         .addresses = hosts_of(own.addresses),
                                                         .way = way_of(options_, sockets),
                                                         .limit = limit}));
    pricing.sockets = sockets;
    return pricing;
  };
  COHORT_ASSIGN_OR_RETURN(Pricing pricing, price(rails));
  if (rails > 1 && !options_.links.sockets) {
    COHORT_ASSIGN_OR_RETURN(const Pricing by_one, price(1));
    if (by_one.prices.far_byte_s < kWorthMoreRails * pricing.prices.far_byte_s) pricing = by_one;
  }
  COHORT_RETURN_IF_ERROR(group->run(barrier()));
  return pricing;
}

// The number that the user set, or the number of common cables; find_prices() measures whether more than one
// pays.
int HostsWorld::rails_between(const Roster& roster) const {
  if (options_.links.backend == Backend::kUcx) return 1;
  return options_.links.sockets ? *options_.links.sockets : num_common_cables(roster.cards, roster.hosts);
}

// Ranks of one host need schedules only if the user has asked for a particular one.
bool HostsWorld::can_share_memory(const Roster& roster) const {
  return schedules_text(options_.links).empty() && roster.near.size() == roster.cards.size();
}

Result<std::unique_ptr<Communicator>> HostsWorld::share_memory(const Part& part, const Roster& roster) {
  plan_ = {.hosts = roster.hosts};
  COHORT_ASSIGN_OR_RETURN(std::shared_ptr<comm::Neighbours> neighbours, meet_neighbours(part, roster));
  return SharedMemoryCommunicator::of(neighbours, {.rank = part.rank,
                                                   .world = part.size(),
                                                   .generation = part.generation,
                                                   .limit = options_.limit,
                                                   .end = part.end});
}

// Groups of ranks of this host share memory, unless the user has asked for an algorithm of messages.
std::shared_ptr<comm::HostGroups> HostsWorld::host_groups(const std::shared_ptr<Foundation>& foundation,
                                                          const Roster& roster,
                                                          std::shared_ptr<comm::GroupNumbers> numbers) const {
  if (options_.links.algorithm) return nullptr;
  return std::make_shared<comm::SharedMemoryGroups>(
      comm::HostParts{
          .neighbours = std::shared_ptr<comm::Neighbours>(foundation, foundation->neighbours.get()),
          .messages = std::make_shared<comm::JobMessages>(foundation, *foundation->exchange,
                                                          *foundation->progress, roster.near),
          .numbers = std::move(numbers)},
      roster.near);
}

Result<std::unique_ptr<Communicator>> HostsWorld::form(std::uint32_t generation) {
  Part all{.generation = generation, .rank = options_.rank};
  for (int rank = 0; rank < options_.world; ++rank) all.members.push_back(rank);
  return form(all);
}

Result<std::unique_ptr<Communicator>> HostsWorld::form(const Part& part) {
  COHORT_RETURN_IF_ERROR(check_links(options_.links));
  COHORT_ASSIGN_OR_RETURN(auto port, open_port());
  COHORT_ASSIGN_OR_RETURN(const Roster roster, meet(part, *port));
  if (can_share_memory(roster)) return share_memory(part, roster);
  COHORT_ASSIGN_OR_RETURN(auto neighbours, meet_neighbours(part, roster));
  const auto foundation = std::make_shared<Foundation>(std::move(neighbours), roster.near, std::move(port));
  const int rails = rails_between(roster);
  COHORT_ASSIGN_OR_RETURN(
      auto far, foundation->port->join({part.rank, roster.cards, roster.hosts, rails}, foundation->clock));
  auto near = std::make_unique<comm::SharedMemoryTransport>(*foundation->neighbours);
  foundation->start(std::make_unique<comm::JoinedTransport>(std::move(near), std::move(far), roster.near),
                    options_);
  if (!pricing_) {
    COHORT_ASSIGN_OR_RETURN(pricing_, find_prices(foundation, part, roster, rails));
  }
  foundation->port->set_striping(striping_for(pricing_->sockets));
  // The ranks of a host share its cable.
  if (pricing_->far_bytes_per_s < kPacedBytesPerSecond) {
    foundation->port->set_pace(kPacedShare * pricing_->far_bytes_per_s /
                               static_cast<double>(roster.near.size()));
  }
  plan_ = {.algorithm = options_.links.algorithm,
           .prices = pricing_->prices,
           .hosts = roster.hosts,
           .chunk_bytes = options_.links.chunk_bytes,
           .wire = options_.links.wire.value_or(WireDType::kSame)};
  const auto numbers = std::make_shared<comm::GroupNumbers>(
      comm::MessagePassingCommunicator::kFirstSplitGroup, part.rank, part.size());
  return comm::MessagePassingCommunicator::make_world(
      *foundation->exchange, *foundation->progress,
      {.generation = part.generation,
       .limit = options_.limit,
       .end = part.end,
       .kind = options_.links.backend == Backend::kUcx ? "hosts over ucx" : "hosts",
       .message_passing = {.plan = plan_},
       .foundation = foundation,
       .engine = foundation,
       .host_groups = host_groups(foundation, roster, numbers),
       .numbers = numbers});
}

}  // namespace cohort::world
