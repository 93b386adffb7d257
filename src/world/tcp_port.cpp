#include "net/own_addresses.h"
#include "net/tcp_transport.h"
#include "world/card.h"
#include "world/far_port.h"

namespace cohort::world {
namespace {

class TcpPort final : public FarPort {
 public:
  TcpPort(const HostsOptions& options, const net::JobKey& key, Descriptor socket,
          std::vector<net::SocketAddress> addresses, std::vector<std::string> subnets)
      : options_(options),
        key_(key),
        socket_(std::move(socket)),
        addresses_(std::move(addresses)),
        subnets_(std::move(subnets)) {}

  void sign(Card& card) const override {
    card.backend = Backend::kTcp;
    card.addresses = addresses_;
    card.subnets = subnets_;
  }

  std::unique_ptr<comm::Doorbell> make_doorbell() override {
    return std::make_unique<net::SocketDoorbell>(reactor_);
  }

  Result<std::unique_ptr<comm::Transport>> join(const Peers& peers, Clock& clock) override {
    auto transport =
        std::make_unique<net::TcpTransport>(facts_of(peers), std::move(socket_), reactor_, clock,
                                            net::TcpOptions{.secrecy = options_.secrecy,
                                                            .first_limit = options_.meeting_limit,
                                                            .return_limit = options_.link_limit,
                                                            .num_rails = peers.rails});
    transport_ = transport.get();
    return std::unique_ptr<comm::Transport>(std::move(transport));
  }

  void set_pace(double bytes_per_s) override { transport_->set_pace(bytes_per_s); }
  void set_striping(net::Striping striping) override { transport_->set_striping(striping); }

 private:
  net::TcpFacts facts_of(const Peers& peers) const {
    net::TcpFacts facts{.member = peers.rank, .members = {}, .key = key_};
    const auto own = static_cast<std::size_t>(peers.rank);
    for (std::size_t rank = 0; rank < peers.cards.size(); ++rank) {
      facts.members.push_back({.is_apart = peers.hosts[rank] == peers.hosts[own],
                               .addresses = by_cables(peers.cards[own], peers.cards[rank])});
    }
    return facts;
  }

  const HostsOptions options_;
  const net::JobKey key_;
  net::Reactor reactor_;
  Descriptor socket_;
  net::TcpTransport* transport_ = nullptr;           // owned by the caller of join()
  const std::vector<net::SocketAddress> addresses_;  // published on the card
  const std::vector<std::string> subnets_;           // of each address
};

}  // namespace

Result<std::unique_ptr<FarPort>> open_tcp_port(const HostsOptions& options, const net::JobKey& key) {
  COHORT_ASSIGN_OR_RETURN(const auto own, net::own_addresses());
  COHORT_ASSIGN_OR_RETURN(auto addresses, net::published_addresses(own, options.interfaces));
  COHORT_ASSIGN_OR_RETURN(Descriptor socket, net::listen_for(addresses));
  COHORT_ASSIGN_OR_RETURN(const net::SocketAddress bound, net::local_address(socket));
  for (net::SocketAddress& address : addresses) address = address.with_port(bound.port());
  std::vector<std::string> subnets;
  for (const net::SocketAddress& address : addresses) subnets.push_back(net::subnet_of(own, address));
  return std::unique_ptr<FarPort>(
      std::make_unique<TcpPort>(options, key, std::move(socket), std::move(addresses), std::move(subnets)));
}

}  // namespace cohort::world
