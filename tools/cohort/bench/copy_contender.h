#pragma once

#include "base/result.h"
#include "bench/start_gate.h"
#include "measure/contender.h"

#include <vector>

namespace cohort::tool {

/// An upper limit for every operation: each rank copies, between two of its own buffers, the bytes that the
/// operation must move. All ranks copy at the same time and share the memory bandwidth.
class CopyContender final : public measure::Contender {
 public:
  CopyContender(StartGate gate, int rank, int ranks) : gate_(std::move(gate)), rank_(rank), ranks_(ranks) {}

  Result<measure::Memory> allocate(const std::string& kind, const measure::BufferSizes& elements) override;
  Status align() override;
  Status perform(const measure::Turn& turn) override;
  measure::CallShape shape(measure::BenchOperation operation, std::size_t elements,
                           const measure::Seat& seat) const override;

 private:
  StartGate gate_;
  const int rank_;
  const int ranks_;
  std::vector<float> input_;
  std::vector<float> output_;
};

}  // namespace cohort::tool
