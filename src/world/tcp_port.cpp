#include "net/own_addresses.h"
#include "net/tcp_transport.h"
#include "world/far_port.h"

namespace cohort::world {
namespace {

class TcpPort final : public FarPort {
 public:
  TcpPort(const HostsOptions& options, const net::JobKey& key, Descriptor socket,
          std::vector<net::SocketAddress> addresses)
      : options_(options), key_(key), socket_(std::move(socket)), addresses_(std::move(addresses)) {}

  void sign(Card& card) const override {
    card.engine = Engine::kTcp;
    card.addresses = addresses_;
  }

  std::unique_ptr<comm::Doorbell> make_doorbell(comm::Doorbell& near) override {
    return std::make_unique<net::BridgedDoorbell>(reactor_, near);
  }

  Result<std::unique_ptr<comm::Transport>> join(const Company& company, Clock& clock) override {
    auto transport =
        std::make_unique<net::TcpTransport>(facts_of(company), std::move(socket_), reactor_, clock,
                                            net::TcpOptions{.secrecy = options_.secrecy,
                                                            .first_limit = options_.meeting_limit,
                                                            .return_limit = options_.link_limit,
                                                            .num_lanes = options_.links.sockets.value_or(1)});
    transport_ = transport.get();
    return std::unique_ptr<comm::Transport>(std::move(transport));
  }

  void set_pace(double bytes_per_s) override { transport_->set_pace(bytes_per_s); }

 private:
  net::TcpFacts facts_of(const Company& company) const {
    net::TcpFacts facts{.member = company.rank, .members = {}, .key = key_};
    const int own_host = company.hosts[static_cast<std::size_t>(company.rank)];
    for (std::size_t rank = 0; rank < company.cards.size(); ++rank) {
      facts.members.push_back(
          {.is_apart = company.hosts[rank] == own_host, .addresses = company.cards[rank].addresses});
    }
    return facts;
  }

  const HostsOptions options_;
  const net::JobKey key_;
  net::Reactor reactor_;
  Descriptor socket_;
  net::TcpTransport* transport_ = nullptr;           // not ours
  const std::vector<net::SocketAddress> addresses_;  // where it is told to be reached
};

}  // namespace

Result<std::unique_ptr<FarPort>> open_tcp_port(const HostsOptions& options, const net::JobKey& key) {
  COHORT_ASSIGN_OR_RETURN(const auto own, net::own_addresses());
  COHORT_ASSIGN_OR_RETURN(auto addresses, net::published_addresses(own, options.interfaces));
  COHORT_ASSIGN_OR_RETURN(Descriptor socket, net::listen_for(addresses));
  COHORT_ASSIGN_OR_RETURN(const net::SocketAddress bound, net::local_address(socket));
  for (net::SocketAddress& address : addresses) address = address.with_port(bound.port());
  return std::unique_ptr<FarPort>(
      std::make_unique<TcpPort>(options, key, std::move(socket), std::move(addresses)));
}

}  // namespace cohort::world
