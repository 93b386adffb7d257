#pragma once

#include "net/tcp_transport.h"

#include <memory>
#include <numeric>
#include <vector>

namespace cohort::test {

/// Members in one process with real sockets between them, on loopback.
class TcpNetwork {
 public:
  TcpNetwork(int num_members, const net::TcpOptions& options) : TcpNetwork(counted(num_members), options) {}
  /// Members of the same host have no sockets between them.
  TcpNetwork(std::vector<int> hosts, const net::TcpOptions& options)
      : hosts_(std::move(hosts)), options_(options), key_(*net::JobKey::make()), reactors_(hosts_.size()) {
    for (std::size_t member = 0; member < hosts_.size(); ++member) {
      listeners_.push_back(value_or_throw(net::listen_at(*net::SocketAddress::parse("127.0.0.1:0"))));
      addresses_.push_back(*net::local_address(listeners_.back()));
    }
  }

  std::unique_ptr<comm::Transport> take(int member) {
    const auto m = static_cast<std::size_t>(member);
    std::vector<net::TcpMember> members;
    for (std::size_t other = 0; other < hosts_.size(); ++other) {
      members.push_back({.is_apart = hosts_[other] == hosts_[m], .addresses = {addresses_[other]}});
    }
    return std::make_unique<net::TcpTransport>(
        net::TcpFacts{.member = member, .members = std::move(members), .key = key_}, std::move(listeners_[m]),
        reactors_[m], clock_, options_);
  }
  std::unique_ptr<comm::Doorbell> make_doorbell(int member) {
    return std::make_unique<net::SocketDoorbell>(reactors_[static_cast<std::size_t>(member)]);
  }
  Clock& clock() { return clock_; }

 private:
  static std::vector<int> counted(int num_members) {
    std::vector<int> hosts(static_cast<std::size_t>(num_members));
    std::iota(hosts.begin(), hosts.end(), 0);
    return hosts;
  }

  const std::vector<int> hosts_;
  const net::TcpOptions options_;
  const net::JobKey key_;
  RealClock clock_;
  std::vector<net::Reactor> reactors_;
  std::vector<Descriptor> listeners_;
  std::vector<net::SocketAddress> addresses_;
};

}  // namespace cohort::test
