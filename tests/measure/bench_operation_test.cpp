#include "measure/bench_operation.h"

#include <gtest/gtest.h>

namespace cohort::measure {
namespace {

TEST(BenchOperation, NamesGoBothWays) {
  for (const BenchOperation operation : kAllBenchOperations) {
    EXPECT_EQ(bench_operation_named(name(operation)), operation);
  }
  EXPECT_EQ(name(BenchOperation::kSendReceive), "send_receive");
  EXPECT_EQ(bench_operation_named("all_reduces"), std::nullopt);
}

TEST(BenchOperation, BuffersAreWholeElementsAndEqualParts) {
  EXPECT_EQ(elements_of(BenchOperation::kAllReduce, 1, 3), 1u);
  EXPECT_EQ(elements_of(BenchOperation::kAllReduce, 4, 3), 1u);
  EXPECT_EQ(elements_of(BenchOperation::kAllReduce, 5, 3), 2u);
  EXPECT_EQ(elements_of(BenchOperation::kAllGather, 4, 3), 3u);
  EXPECT_EQ(elements_of(BenchOperation::kReduceScatter, 16, 3), 6u);
  EXPECT_EQ(elements_of(BenchOperation::kAllToAll, 24, 3), 6u);
  EXPECT_EQ(elements_of(BenchOperation::kBarrier, 64, 3), 0u);
}

TEST(BenchOperation, BusFactors) {
  EXPECT_EQ(bus_factor(BenchOperation::kAllReduce, 2), 1);
  EXPECT_EQ(bus_factor(BenchOperation::kAllReduce, 4), 1.5);
  EXPECT_EQ(bus_factor(BenchOperation::kAllGather, 4), 0.75);
  EXPECT_EQ(bus_factor(BenchOperation::kReduceScatter, 4), 0.75);
  EXPECT_EQ(bus_factor(BenchOperation::kAllToAll, 4), 0.75);
  EXPECT_EQ(bus_factor(BenchOperation::kBroadcast, 4), 1);
  EXPECT_EQ(bus_factor(BenchOperation::kAllReduce, 1), 0);
}

TEST(BenchOperation, CopiedBytesAreHalfOfWhatIsReadAndWritten) {
  EXPECT_EQ(copied_bytes(BenchOperation::kAllReduce, 100, 2, Part::kOther), 400u);
  EXPECT_EQ(copied_bytes(BenchOperation::kReduceScatter, 100, 2, Part::kOther),
            300u);  // reads 400, writes 200
  EXPECT_EQ(copied_bytes(BenchOperation::kAllGather, 100, 2, Part::kOther), 400u);
  EXPECT_EQ(copied_bytes(BenchOperation::kBroadcast, 100, 2, Part::kOther), 400u);
  EXPECT_EQ(copied_bytes(BenchOperation::kBroadcast, 100, 2, Part::kRoot), 0u);
  EXPECT_EQ(copied_bytes(BenchOperation::kScatter, 100, 4, Part::kRoot), 100u);
}

}  // namespace
}  // namespace cohort::measure
