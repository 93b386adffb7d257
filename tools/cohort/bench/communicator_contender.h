#pragma once

#include "bench/bench_communicator.h"
#include "measure/contender.h"

namespace cohort::tool {

/// Our own communicator under the measuring loop.
class CommunicatorContender final : public measure::Contender {
 public:
  explicit CommunicatorContender(BenchCommunicator bench) : bench_(std::move(bench)) {}

  Result<measure::Memory> allocate(const std::string& kind, const measure::BufferSizes& elements) override;
  Status align() override;
  Status perform(const measure::Turn& turn) override;

 private:
  Status ping_pong(const measure::Turn& turn);

  BenchCommunicator bench_;
};

}  // namespace cohort::tool
