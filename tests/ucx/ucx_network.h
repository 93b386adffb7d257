#pragma once

#include "ucx/port.h"

#include <memory>
#include <vector>

namespace cohort::test {

/// Options that keep UCX on this machine: its tcp transport, on loopback.
inline ucx::UcxOptions ucx_on_loopback() {
  return {.settings = {{"TLS", "tcp"}, {"NET_DEVICES", "lo"}}};
}

/// Members in one process that exchange messages over UCX.
class UcxNetwork {
 public:
  /// `hosts`: the host of each member; members of one host do not talk over UCX. Empty: all members do.
  explicit UcxNetwork(std::vector<int> hosts) : UcxNetwork(static_cast<int>(hosts.size()), hosts) {}
  explicit UcxNetwork(int num_members, std::vector<int> hosts = {}) : hosts_(std::move(hosts)) {
    for (int member = 0; member < num_members; ++member) {
      ports_.push_back(value_or_throw(ucx::open_ucx_port(ucx_on_loopback())));
      addresses_.push_back(ports_.back()->address());
    }
  }

  std::unique_ptr<comm::Transport> take(int member) {
    auto addresses = addresses_;
    for (std::size_t other = 0; other < hosts_.size(); ++other) {
      if (hosts_[other] == hosts_[static_cast<std::size_t>(member)]) addresses[other].clear();
    }
    return value_or_throw(port(member).join({.member = member, .addresses = addresses}, clock_));
  }
  std::unique_ptr<comm::Doorbell> make_doorbell(int member) { return port(member).make_doorbell(); }
  Clock& clock() { return clock_; }

  /// Whether UCX is installed; library_test.cpp tells what is missing.
  static bool is_there() { return ucx::open_ucx_port(ucx_on_loopback()).has_value(); }

 private:
  ucx::UcxPort& port(int member) { return *ports_[static_cast<std::size_t>(member)]; }

  const std::vector<int> hosts_;
  RealClock clock_;
  std::vector<std::unique_ptr<ucx::UcxPort>> ports_;
  std::vector<std::vector<std::byte>> addresses_;
};

}  // namespace cohort::test
