#pragma once

#include "comm/progress/relayed_doorbell.h"
#include "comm/shared_memory/host_groups.h"
#include "comm/shared_memory/ring_network.h"
#include "comm/transport/joined.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace cohort::test {

/// Members of several hosts, all in this process: rings inside a host, a network `Far` between hosts.
///
/// Lifetime: must outlive its transports and doorbells.
template <class Far>
class JoinedNetwork {
 public:
  /// `hosts`: the host of each member.
  template <class... Options>
  explicit JoinedNetwork(std::vector<int> hosts, const Options&... options)
      : hosts_(std::move(hosts)), far_(hosts_, options...) {
    const int num_hosts = 1 + *std::max_element(hosts_.begin(), hosts_.end());
    for (int host = 0; host < num_hosts; ++host) {
      const std::vector<int> members = members_of(host);
      rings_.push_back(std::make_unique<RingNetwork>(static_cast<int>(members.size()), members));
    }
  }

  std::unique_ptr<comm::Transport> take(int member) {
    return std::make_unique<comm::JoinedTransport>(rings_of(member).take(number_of(member)),
                                                   far_.take(member), members_of(host_of(member)));
  }
  std::unique_ptr<comm::Doorbell> make_doorbell(int member) {
    return std::make_unique<Bell>(rings_of(member).make_doorbell(number_of(member)),
                                  far_.make_doorbell(member));
  }
  Clock& clock() { return far_.clock(); }
  Arena& arena(int member) { return rings_of(member).arena(number_of(member)); }
  /// The groups of the member's host. Exchange and progress thread must outlive them.
  std::shared_ptr<comm::HostGroups> host_groups(int member, comm::Exchange& exchange,
                                                comm::Progress& progress,
                                                std::shared_ptr<comm::GroupNumbers> numbers) {
    const std::vector<int> near = members_of(host_of(member));
    return std::make_shared<comm::SharedMemoryGroups>(
        comm::HostParts{.neighbours = rings_of(member).neighbours(number_of(member)),
                        .messages = std::make_shared<comm::JobMessages>(nullptr, exchange, progress, near),
                        .numbers = std::move(numbers)},
        near);
  }
  const std::vector<int>& hosts() const { return hosts_; }

 private:
  class Bell final : public comm::Doorbell {
   public:
    Bell(std::unique_ptr<comm::Doorbell> near, std::unique_ptr<comm::Doorbell> far)
        : near_(std::move(near)), relayed_(std::move(far), *near_) {}
    std::uint32_t arm() override { return relayed_.arm(); }
    void sleep(std::uint32_t ticket, TimePoint until) override { relayed_.sleep(ticket, until); }
    void disarm() override { relayed_.disarm(); }
    void ring() override { relayed_.ring(); }

   private:
    const std::unique_ptr<comm::Doorbell> near_;
    comm::RelayedDoorbell relayed_;
  };

  int host_of(int member) const { return hosts_[static_cast<std::size_t>(member)]; }
  RingNetwork& rings_of(int member) { return *rings_[static_cast<std::size_t>(host_of(member))]; }
  std::vector<int> members_of(int host) const {
    std::vector<int> members;
    for (int member = 0; member < static_cast<int>(hosts_.size()); ++member) {
      if (host_of(member) == host) members.push_back(member);
    }
    return members;
  }
  int number_of(int member) const {
    const std::vector<int> members = members_of(host_of(member));
    return static_cast<int>(std::find(members.begin(), members.end(), member) - members.begin());
  }

  const std::vector<int> hosts_;
  Far far_;
  std::vector<std::unique_ptr<RingNetwork>> rings_;
};

}  // namespace cohort::test
