#pragma once

#include "comm/exchange/exchange.h"
#include "comm/progress/progress.h"
#include "comm/waiting.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace cohort::test {

/// The exchange of one rank with a progress thread of its own.
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

  /// Takes the exchange from the progress thread: for the others this member is frozen.
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
  Status recv(int from, const comm::FrameHeader& header, std::span<std::byte> into) {
    Waiting received;
    exchange_.recv(from, header, into, received.callback());
    return received.wait();
  }

 private:
  RealClock clock_;
  comm::LocalDoorbell doorbell_;
  comm::Exchange exchange_;
  comm::Progress progress_;
};

/// Bytes that depend on (seed, index), so that misplaced bytes are noticed.
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
