#pragma once

#include "comm/transport/transport.h"

#include <atomic>
#include <memory>
#include <vector>

namespace cohort::test {

/// A transport that counts the payload bytes of collective messages, by the member they go to.
///
/// Threads: as Transport; the counts may be read at any time.
/// Lifetime: the counts must outlive it.
class CountingTransport final : public comm::Transport {
 public:
  using Counts = std::vector<std::atomic<std::size_t>>;
  CountingTransport(std::unique_ptr<comm::Transport> inner, Counts& counts)
      : inner_(std::move(inner)), counts_(counts) {}

  int member() const override { return inner_->member(); }
  int num_members() const override { return inner_->num_members(); }
  void open(comm::FrameSink& sink, comm::Doorbell& doorbell) override { inner_->open(sink, doorbell); }
  void send(int to, const comm::FrameHeader& header, std::span<const std::byte> payload, Sent sent) override {
    if (header.channel == comm::Channel::kCollective) counts_[static_cast<std::size_t>(to)] += payload.size();
    inner_->send(to, header, payload, std::move(sent));
  }
  void withdraw(std::uint32_t group, std::uint32_t generation) override {
    inner_->withdraw(group, generation);
  }
  void give_up(int member, const Error& why) override { inner_->give_up(member, why); }
  void close() override { inner_->close(); }
  bool advance() override { return inner_->advance(); }
  TimePoint wanted_at() const override { return inner_->wanted_at(); }

 private:
  const std::unique_ptr<comm::Transport> inner_;
  Counts& counts_;
};

}  // namespace cohort::test
