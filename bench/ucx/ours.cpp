#include "side.h"
#include "ucx/port.h"

namespace cohort::bench {
namespace {

class Ours final : public Side, private comm::FrameSink {
 public:
  explicit Ours(const Settings& settings)
      : port_(value_or_throw(ucx::open_ucx_port({.settings = settings}))),
        doorbell_(port_->make_doorbell()) {}

  Address address() const override { return port_->address(); }
  void connect(int member, const std::vector<Address>& addresses) override {
    other_ = 1 - member;
    transport_ = value_or_throw(port_->join({.member = member, .addresses = addresses}, clock_));
    transport_->open(*this, *doorbell_);
  }

  void send(std::span<const std::byte> payload) override {
    const comm::FrameHeader header = {.sequence = ++num_sent_, .size_bytes = payload.size()};
    is_sent_ = false;
    transport_->send(other_, header, payload, [this](const Status&) { is_sent_ = true; });
    while (!is_sent_) transport_->advance();
  }
  void receive(std::span<std::byte> into) override {
    into_ = into;
    while (!has_arrived_) transport_->advance();
    has_arrived_ = false;
  }

 private:
  // The peer answers only after it was sent to, so the buffer is always there.
  std::span<std::byte> place(int, const comm::FrameHeader& header) override {
    return into_.first(header.size_bytes);
  }
  void arrived(int, const comm::FrameHeader&) override { has_arrived_ = true; }
  void withdrawn(int, const comm::FrameHeader&) override {}
  void lost(int, const Error& why) override { raise(why); }

  RealClock clock_;
  const std::unique_ptr<ucx::UcxPort> port_;
  const std::unique_ptr<comm::Doorbell> doorbell_;
  std::unique_ptr<comm::Transport> transport_;
  int other_ = 0;
  std::uint64_t num_sent_ = 0;
  bool is_sent_ = false;
  bool has_arrived_ = false;
  std::span<std::byte> into_;
};

}  // namespace

std::unique_ptr<Side> make_ours(const Settings& settings) {
  return std::make_unique<Ours>(settings);
}

}  // namespace cohort::bench
