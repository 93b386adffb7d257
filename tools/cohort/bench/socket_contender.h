#pragma once

#include "base/descriptor.h"
#include "base/result.h"
#include "measure/contender.h"

#include <vector>

namespace cohort::tool {

/// An upper limit for everything over TCP: two ranks send each other the bytes that each must send at least,
/// both at the same time over one plain loopback connection. Nothing is summed or checked.
///
/// Failure: kUnsupported for other numbers of ranks, and for operations in which ranks differ; kTimedOut if
/// the other rank does not respond.
class SocketContender final : public measure::Contender {
 public:
  /// Connects the two ranks; both pass the same folder.
  static Result<std::unique_ptr<SocketContender>> open(const std::string& folder, int rank, int ranks);

  Result<measure::Memory> allocate(const std::string& kind, const measure::BufferSizes& elements) override;
  Status align() override;
  Status perform(const measure::Turn& turn) override;
  measure::CallShape shape(measure::BenchOperation operation, std::size_t elements,
                           const measure::Seat& seat) const override;

 private:
  explicit SocketContender(Descriptor socket) : socket_(std::move(socket)) {}
  Status exchange(std::span<const std::byte> out, std::span<std::byte> in);

  Descriptor socket_;
  std::vector<float> input_;
  std::vector<float> output_;
};

}  // namespace cohort::tool
