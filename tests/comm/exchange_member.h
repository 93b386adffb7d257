#pragma once

#include "comm/exchange.h"
#include "comm/progress.h"
#include "comm/waiting.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace cohort::test {

/// An exchange with a progress thread of its own: what one rank has.
class ExchangeMember {
 public:
  explicit ExchangeMember(std::unique_ptr<comm::Transport> transport, comm::Exchange::Options options = {})
      : exchange_(std::move(transport), clock_, options), progress_(doorbell_) {
    exchange_.open(doorbell_);
    progress_.add(exchange_);
  }
  ~ExchangeMember() { leave(); }

  comm::Exchange& exchange() { return exchange_; }
  comm::Exchange* operator->() { return &exchange_; }
  comm::Progress& progress() { return progress_; }

  /// The progress thread stops looking at it: to the others it is frozen.
  void freeze() { progress_.remove(exchange_); }
  void leave() {
    progress_.remove(exchange_);
    exchange_.close();
  }

  /// Sends and waits until it is sent.
  Status send(int to, const comm::FrameHeader& header, std::span<const std::byte> payload) {
    Waiting sent;
    exchange_.send(to, header, payload, sent.callback());
    return sent.wait();
  }
  Status receive(int from, const comm::FrameHeader& header, std::span<std::byte> into) {
    Waiting received;
    exchange_.receive(from, header, into, received.callback());
    return received.wait();
  }

 private:
  RealClock clock_;
  comm::LocalDoorbell doorbell_;
  comm::Exchange exchange_;
  comm::Progress progress_;
};

/// Bytes that say where they belong: other ones for every (seed, index).
inline std::vector<std::byte> pattern(std::size_t size_bytes, std::uint64_t seed) {
  std::vector<std::byte> bytes(size_bytes);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (std::byte& byte : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<std::byte>(state >> 56);
  }
  return bytes;
}

}  // namespace cohort::test
