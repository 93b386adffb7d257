#pragma once

#include "net/tcp_transport.h"

#include <memory>
#include <vector>

namespace cohort::test {

/// Members of one process that talk over real sockets, on loopback.
class TcpNetwork {
 public:
  TcpNetwork(int num_members, const net::TcpOptions& options)
      : options_(options), key_(*net::JobKey::make()), reactors_(static_cast<std::size_t>(num_members)) {
    for (int member = 0; member < num_members; ++member) {
      listeners_.push_back(value_or_throw(net::listen_at(*net::SocketAddress::parse("127.0.0.1:0"))));
      addresses_.push_back(*net::local_address(listeners_.back()));
    }
  }

  std::unique_ptr<comm::Transport> take(int member) {
    const auto m = static_cast<std::size_t>(member);
    return std::make_unique<net::TcpTransport>(
        net::TcpFacts{.member = member, .addresses = addresses_, .key = key_}, std::move(listeners_[m]),
        reactors_[m], clock_, options_);
  }
  std::unique_ptr<comm::Doorbell> make_doorbell(int member) {
    return std::make_unique<net::SocketDoorbell>(reactors_[static_cast<std::size_t>(member)]);
  }
  Clock& clock() { return clock_; }

 private:
  const net::TcpOptions options_;
  const net::JobKey key_;
  RealClock clock_;
  std::vector<net::Reactor> reactors_;
  std::vector<Descriptor> listeners_;
  std::vector<net::SocketAddress> addresses_;
};

}  // namespace cohort::test
