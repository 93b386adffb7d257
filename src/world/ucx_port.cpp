#include "ucx/port.h"

#include "world/far_port.h"

#include <fmt/format.h>

namespace cohort::world {
namespace {

class UcxFarPort final : public FarPort {
 public:
  explicit UcxFarPort(std::unique_ptr<ucx::UcxPort> port) : port_(std::move(port)) {}

  void sign(Card& card) const override {
    card.backend = Backend::kUcx;
    card.worker = port_->address();
  }

  std::unique_ptr<comm::Doorbell> make_doorbell() override { return port_->make_doorbell(); }

  Result<std::unique_ptr<comm::Transport>> join(const Peers& peers, Clock& clock) override {
    ucx::UcxFacts facts{.member = peers.rank};
    const int own_host = peers.hosts[static_cast<std::size_t>(peers.rank)];
    for (std::size_t rank = 0; rank < peers.cards.size(); ++rank) {
      const bool is_near = peers.hosts[rank] == own_host;
      facts.addresses.push_back(is_near ? std::vector<std::byte>() : peers.cards[rank].worker);
    }
    return port_->join(facts, clock);
  }

 private:
  const std::unique_ptr<ucx::UcxPort> port_;
};

}  // namespace

Result<std::unique_ptr<FarPort>> open_ucx_port(const HostsOptions& options) {
  ucx::UcxOptions settings;
  if (!options.interfaces.empty()) {
    settings.settings.emplace_back("NET_DEVICES", fmt::format("{}", fmt::join(options.interfaces, ",")));
  }
  COHORT_ASSIGN_OR_RETURN(auto port, ucx::open_ucx_port(settings));
  return std::unique_ptr<FarPort>(std::make_unique<UcxFarPort>(std::move(port)));
}

}  // namespace cohort::world
