#include "bench/copy_contender.h"

#include <cstring>

namespace cohort::tool {

using measure::BenchOperation;

namespace {

std::size_t copied_elements(BenchOperation operation, std::size_t elements, const measure::Seat& seat) {
  const auto part = seat.rank == seat.root ? measure::Part::kRoot : measure::Part::kOther;
  return measure::copied_bytes(operation, elements, seat.ranks, part) / sizeof(float);
}

}  // namespace

Result<measure::Memory> CopyContender::allocate(const std::string&, const measure::BufferSizes& elements) {
  if (input_.size() != elements.input) input_ = std::vector<float>(elements.input);
  if (output_.size() != elements.output) output_ = std::vector<float>(elements.output);
  return measure::Memory{.input = input_, .output = output_};
}

Status CopyContender::align() {
  return gate_.pass(std::chrono::seconds(30));
}

Status CopyContender::perform(const measure::Turn& turn) {
  if (turn.operation == BenchOperation::kBarrier) return align();
  const std::size_t count =
      copied_elements(turn.operation, turn.input.size(), {.rank = rank_, .ranks = ranks_, .root = turn.root});
  // There and back, because the others' time is that of both directions.
  const int copies = turn.operation == BenchOperation::kSendReceive ? 2 : 1;
  for (int copy = 0; copy < copies && count > 0; ++copy) {
    std::memcpy(turn.output.data(), turn.input.data(), count * sizeof(float));
  }
  return {};
}

measure::CallShape CopyContender::shape(BenchOperation operation, std::size_t elements,
                                        const measure::Seat& seat) const {
  return {.sizes = {.input = elements, .output = elements},
          .before = measure::Before::kPoison,
          .expected = {{.count = copied_elements(operation, elements, seat), .ranks = {seat.rank}}}};
}

}  // namespace cohort::tool
