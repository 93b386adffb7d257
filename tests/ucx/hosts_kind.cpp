// All cases of communicators for the ranks of several hosts by the engine ucx: rings inside a host, UCX
// between hosts, two ranks on each.

#include "comm/conformance/scheduled_kind.h"
#include "world/relayed_doorbell.h"

#include <algorithm>

namespace cohort::test {
namespace {

/// Lifetime: must outlive its transports and doorbells.
class UcxHosts {
 public:
  explicit UcxHosts(std::vector<int> hosts)
      : hosts_(std::move(hosts)), ucx_(static_cast<int>(hosts_.size()), hosts_) {
    for (int host = 0; host <= hosts_.back(); ++host) {
      rings_.push_back(std::make_unique<RingNetwork>(static_cast<int>(members_of(host).size())));
    }
  }

  std::unique_ptr<comm::Transport> take(int member) {
    return std::make_unique<comm::JoinedTransport>(rings_of(member).take(number_of(member)),
                                                   ucx_.take(member), members_of(host_of(member)));
  }
  std::unique_ptr<comm::Doorbell> make_doorbell(int member) {
    return std::make_unique<Bell>(rings_of(member).make_doorbell(number_of(member)),
                                  ucx_.make_doorbell(member));
  }
  Clock& clock() { return ucx_.clock(); }
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
    std::unique_ptr<comm::Doorbell> near_;
    world::RelayedDoorbell relayed_;
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
  UcxNetwork ucx_;
  std::vector<std::unique_ptr<RingNetwork>> rings_;
};

Network ucx_hosts(int n) {
  const auto network = std::make_shared<UcxHosts>(hosts_of_two(n));
  return {[network](int member) { return network->take(member); },
          [network]() -> Clock& { return network->clock(); },
          [network](int member) { return network->make_doorbell(member); }, network->hosts()};
}

}  // namespace

std::vector<Kind> all_kinds() {
  if (!UcxNetwork::is_there()) return {};
  Kind kind = scheduled_kind({"hosts_ucx", ucx_hosts});
  kind.largest_world = 4;  // two hosts: more are more of the same
  return {kind};
}

}  // namespace cohort::test
