#pragma once

#include "comm/joined_network.h"
#include "comm/networks/faulty.h"
#include "comm/networks/loopback.h"
#include "comm/networks/simulated.h"
#include "comm/shared_memory/ring_network.h"
#include "net/tcp_network.h"
#include "ucx/ucx_network.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cohort::test {

/// A network of one kind for tests: its transports, with their clock and doorbells.
struct Network {
  std::function<std::unique_ptr<comm::Transport>(int member)> take{};
  std::function<Clock&()> clock{};
  std::function<std::unique_ptr<comm::Doorbell>(int member)> make_doorbell{};
  std::vector<int> hosts{};  ///< the host of each member; empty: all on one host
  /// The groups of the member's host, and its arena; null: members share no memory.
  std::function<std::shared_ptr<comm::HostGroups>(int member, comm::Exchange&, comm::Progress&,
                                                  std::shared_ptr<comm::GroupNumbers>)>
      host_groups{};
  std::function<Arena&(int member)> arena{};
};

struct NetworkKind {
  std::string name;
  std::function<Network(int num_members)> make;
};

inline Network loopback_network(int n) {
  const auto network = comm::make_loopback(n);
  const auto clock = std::make_shared<RealClock>();
  return {[network](int member) { return network->take(member); }, [clock]() -> Clock& { return *clock; },
          [](int) { return std::make_unique<comm::LocalDoorbell>(); }};
}

inline Network simulated_network(int n, comm::LinkFacts link = {}) {
  const auto network = std::make_shared<comm::SimulatedNetwork>(
      n, comm::SimulatedNetwork::Options{.seed = 5, .link = link, .start = std::chrono::steady_clock::now()});
  network->start_driver();
  return {[network](int member) { return network->take(member); },
          [network]() -> Clock& { return network->clock(); },
          [network](int) { return std::make_unique<comm::ClockedDoorbell>(network->clock()); }};
}

inline Network faulty_network(int n, std::uint64_t seed) {
  const Network inner = loopback_network(n);
  const comm::TransportFaults faults = {.seed = seed, .delay = 0.3, .repeat = 0.3, .split = 0.5};
  return {[inner, faults](int member) -> std::unique_ptr<comm::Transport> {
            return std::make_unique<comm::FaultyTransport>(inner.take(member), faults);
          },
          inner.clock, inner.make_doorbell};
}

inline Network shared_memory_network(int n) {
  const auto network = std::make_shared<RingNetwork>(n);
  const auto clock = std::make_shared<RealClock>();
  return {[network](int member) { return network->take(member); }, [clock]() -> Clock& { return *clock; },
          [network](int member) { return network->make_doorbell(member); }};
}

inline Network tcp_network(int n, const net::TcpOptions& options) {
  const auto network = std::make_shared<TcpNetwork>(n, options);
  return {[network](int member) { return network->take(member); },
          [network]() -> Clock& { return network->clock(); },
          [network](int member) { return network->make_doorbell(member); }};
}

/// The network of members on several hosts, whose members of one host share memory.
template <class Far>
Network network_of(const std::shared_ptr<JoinedNetwork<Far>>& network) {
  return {[network](int member) { return network->take(member); },
          [network]() -> Clock& { return network->clock(); },
          [network](int member) { return network->make_doorbell(member); },
          network->hosts(),
          [network](int member, comm::Exchange& exchange, comm::Progress& progress,
                    std::shared_ptr<comm::GroupNumbers> numbers) {
            return network->host_groups(member, exchange, progress, std::move(numbers));
          },
          [network](int member) -> Arena& { return network->arena(member); }};
}

inline Network joined_network(std::vector<int> hosts, net::Secrecy secrecy) {
  return network_of(
      std::make_shared<JoinedNetwork<TcpNetwork>>(std::move(hosts), net::TcpOptions{.secrecy = secrecy}));
}

/// The hosts of members, two adjacent members on each.
inline std::vector<int> hosts_of_two(int n) {
  std::vector<int> hosts;
  for (int member = 0; member < n; ++member) hosts.push_back(member / 2);
  return hosts;
}

/// The hosts of members, dealt to three hosts in turn.
inline std::vector<int> hosts_in_turn(int n) {
  std::vector<int> hosts;
  for (int member = 0; member < n; ++member) hosts.push_back(member % 3);
  return hosts;
}

/// The hosts of members, dealt to two hosts forwards and backwards: 0 1 1 0 0 1 1 0 …
inline std::vector<int> hosts_crosswise(int n) {
  std::vector<int> hosts;
  for (int member = 0; member < n; ++member) hosts.push_back(member % 4 == 0 || member % 4 == 3 ? 0 : 1);
  return hosts;
}

inline Network ucx_network(int n) {
  const auto network = std::make_shared<UcxNetwork>(n);
  return {[network](int member) { return network->take(member); },
          [network]() -> Clock& { return network->clock(); },
          [network](int member) { return network->make_doorbell(member); }};
}

/// All kinds of networks. A new kind is one line here.
inline std::vector<NetworkKind> network_kinds() {
  using namespace std::chrono_literals;
  std::vector<NetworkKind> kinds = {
      {"loopback", loopback_network},
      {"simulated", [](int n) { return simulated_network(n); }},
      {"simulated_lossy",
       [](int n) { return simulated_network(n, {.latency = 1ms, .loss = 0.2, .losses_cap = 50}); }},
      {"faulty", [](int n) { return faulty_network(n, 11); }},
      {"shared_memory_rings", shared_memory_network},
      {"tcp", [](int n) { return tcp_network(n, {.secrecy = net::Secrecy::kClear}); }},
      {"tls", [](int n) { return tcp_network(n, {.secrecy = net::Secrecy::kTls}); }},
      {"tcp_rails",
       [](int n) {
         return tcp_network(n, {.secrecy = net::Secrecy::kClear, .num_rails = 3, .stripe_from = 64});
       }},
      {"hosts_of_two", [](int n) { return joined_network(hosts_of_two(n), net::Secrecy::kTls); }},
      {"hosts_in_turn", [](int n) { return joined_network(hosts_in_turn(n), net::Secrecy::kClear); }},
  };
  if (UcxNetwork::is_there()) kinds.push_back({"ucx", ucx_network});
  return kinds;
}

}  // namespace cohort::test
