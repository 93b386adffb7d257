#include "comm/message_passing/plan.h"

#include <gtest/gtest.h>

namespace cohort::comm {
namespace {

Call sum_of(std::size_t count, DType dtype) {
  return {.operation = Operation::kAllReduce,
          .input = {nullptr, count, dtype},
          .output = {nullptr, count, dtype}};
}

TEST(Plan, CutsAsItIsTold) {
  const PlanOptions options{.algorithm = CollectiveAlgorithm::kHalvingDoubling, .chunk_bytes = 4096};
  // Halves of 3000 f32: 12,000 bytes. 16-bit floats are kept as f32.
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    const Call call = sum_of(6000, dtype);
    const Choice choice = choice_for(call, facts_for(call, 0, 2, options), options);
    EXPECT_EQ(choice.chunks, 3u);
    EXPECT_EQ(choice.chunk_length, 1024u);
    for (const Step& step : plan(call, 0, 2, options).steps) EXPECT_LE(step.from.count, 1024u);
  }
}

TEST(Plan, RoundsOnlyFloatsThatAreCombinedAndTravel) {
  const PlanOptions options{.hosts = {0, 1}, .wire = WireDType::kFloat16};
  const auto wire_of = [&](const Call& call, const PlanOptions& given) {
    return facts_for(call, 0, 2, given).wire;
  };
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    EXPECT_EQ(wire_of(sum_of(5, dtype), options), WireDType::kFloat16) << name(dtype);
  }
  for (const DType dtype : {DType::kF64, DType::kI32, DType::kU8}) {
    EXPECT_EQ(wire_of(sum_of(5, dtype), options), WireDType::kSame) << name(dtype);
  }
  Call moved = sum_of(5, DType::kF32);
  moved.operation = Operation::kBroadcast;
  EXPECT_EQ(wire_of(moved, options), WireDType::kSame);
  PlanOptions one_host = options;
  one_host.hosts = {4, 4};
  EXPECT_EQ(wire_of(sum_of(5, DType::kF32), one_host), WireDType::kSame);
}

}  // namespace
}  // namespace cohort::comm
