#include "measure/contender.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>

namespace cohort::measure {
namespace {

using Buffer = std::vector<float>;

// The meaning of the operation, element by element: the outputs of all ranks from the inputs of all ranks.
void by_definition(BenchOperation operation, int root, const std::vector<Buffer>& in,
                   std::vector<Buffer>& out) {
  const std::vector<Buffer> before = out;
  const auto n = in.size();
  const auto at = static_cast<std::size_t>(root);
  const auto sum = [&](const std::vector<Buffer>& all, std::size_t i) {
    float total = 0;
    for (const Buffer& one : all) total += one[i];
    return total;
  };
  for (std::size_t r = 0; r < n; ++r) {
    const std::size_t size = out[r].size();
    for (std::size_t i = 0; i < size; ++i) {
      switch (operation) {
        case BenchOperation::kAllReduce:
          out[r][i] = sum(before, i);
          break;
        case BenchOperation::kBroadcast:
          out[r][i] = before[at][i];
          break;
        case BenchOperation::kReduce:
          if (r == at) out[r][i] = sum(in, i);
          break;
        case BenchOperation::kReduceScatter:
          out[r][i] = sum(in, r * size + i);
          break;
        case BenchOperation::kScatter:
          out[r][i] = in[at][r * size + i];
          break;
        case BenchOperation::kAllGather:
          out[r][i] = in[i / (size / n)][i % (size / n)];
          break;
        case BenchOperation::kGather:
          if (r == at) out[r][i] = in[i / (size / n)][i % (size / n)];
          break;
        case BenchOperation::kAllToAll:
          out[r][i] = in[i / (size / n)][r * (size / n) + i % (size / n)];
          break;
        case BenchOperation::kSendReceive:
          out[r][i] = in[static_cast<std::size_t>(partner_of(static_cast<int>(r), static_cast<int>(n)))][i];
          break;
        case BenchOperation::kBarrier:
          break;
      }
    }
  }
}

struct Case {
  BenchOperation operation;
  int ranks;
  std::uint64_t bytes;
  int root;
};

void check_case(const Case& given, std::uint64_t salt) {
  const std::size_t elements = elements_of(given.operation, given.bytes, given.ranks);
  std::vector<Buffer> in;
  std::vector<Buffer> out;
  for (int r = 0; r < given.ranks; ++r) {
    const CallShape shape =
        call_shape(given.operation, elements, {.rank = r, .ranks = given.ranks, .root = given.root});
    write_values(in.emplace_back(shape.sizes.input), r, salt);
    out.emplace_back(shape.sizes.output);
    if (shape.before == Before::kOwnValues) write_values(out.back(), r, salt);
    if (shape.before == Before::kPoison) write_poison(out.back());
  }
  by_definition(given.operation, given.root, in, out);
  for (int r = 0; r < given.ranks; ++r) {
    for (const Piece& piece :
         expected_pieces(given.operation, elements, {.rank = r, .ranks = given.ranks, .root = given.root})) {
      const auto mistake = find_mistake(out[static_cast<std::size_t>(r)], piece, salt);
      ASSERT_FALSE(mistake) << name(given.operation) << " of " << given.bytes << " B, rank " << r << " of "
                            << given.ranks << ", root " << given.root << ": " << *mistake;
    }
  }
}

TEST(RankLayout, WhatIsExpectedIsWhatTheOperationsMean) {
  for (const BenchOperation operation : kAllBenchOperations) {
    for (const int ranks : {1, 2, 3, 4, 5, 8}) {
      for (const std::uint64_t bytes : {1u, 4u, 12u, 1004u, 4021u}) {
        check_case({operation, ranks, bytes, 0}, 3);
        check_case({operation, ranks, bytes, ranks - 1}, 4);
      }
    }
  }
}

TEST(RankLayout, EveryOperationIsChecked) {
  for (const BenchOperation operation : kAllBenchOperations) {
    if (operation == BenchOperation::kBarrier) continue;
    std::size_t checked = 0;
    for (int r = 0; r < 3; ++r) {
      for (const Piece& piece : expected_pieces(operation, 6, {.rank = r, .ranks = 3, .root = 1}))
        checked += piece.count;
    }
    EXPECT_GE(checked, 6u) << name(operation);
  }
}

// A world of one rank; the given function writes the output.
class Alone final : public Contender {
 public:
  explicit Alone(std::function<void(const Turn&)> act) : act_(std::move(act)) {}

  Result<Memory> allocate(const std::string& kind, const BufferSizes& elements) override {
    if (kind == "strange") return Error(ErrorCode::kUnsupported, "no such kind");
    input_.assign(elements.input, 0);
    output_.assign(elements.output, 0);
    return Memory{.input = input_, .output = output_};
  }
  Status align() override {
    ++aligned;
    return {};
  }
  Status perform(const Turn& turn) override {
    ++performed;
    act_(turn);
    return {};
  }

  int aligned = 0;
  int performed = 0;

 private:
  std::function<void(const Turn&)> act_;
  Buffer input_;
  Buffer output_;
};

RunCommand gather_alone() {
  return {.operation = BenchOperation::kGather,
          .kind = "any",
          .elements = 37,
          .iterations = 4,
          .batch = 3,
          .salt = 250};
}

TEST(Contender, EveryIterationIsOneSampleOfABatch) {
  Alone contender(
      [](const Turn& turn) { std::copy(turn.input.begin(), turn.input.end(), turn.output.begin()); });
  const auto times = measure_run(contender, gather_alone(), 0, 1);
  ASSERT_TRUE(times) << times.error().text();
  EXPECT_EQ(times->intervals.size(), 4u);
  EXPECT_EQ(contender.aligned, 4);
  EXPECT_EQ(contender.performed, 12);
  for (const Interval& interval : times->intervals) EXPECT_LE(interval.start_ns, interval.end_ns);
}

TEST(Contender, BuffersAreRewrittenBetweenIterations) {
  std::vector<float> seen;
  Alone contender([&](const Turn& turn) {
    seen.push_back(turn.input[0]);
    EXPECT_NE(turn.output[0], turn.output[0]) << "the output is not poisoned";
    std::copy(turn.input.begin(), turn.input.end(), turn.output.begin());
  });
  ASSERT_TRUE(measure_run(contender, gather_alone(), 0, 1));
  EXPECT_GT(seen.size(), 1u);
  for (std::size_t i = 1; i < seen.size(); ++i) EXPECT_NE(seen[i - 1], seen[i]);
}

TEST(Contender, OneWrongNumberInTheLastCallIsFound) {
  int calls = 0;
  Alone contender([&](const Turn& turn) {
    std::copy(turn.input.begin(), turn.input.end(), turn.output.begin());
    if (++calls == 12) turn.output[36] += 1;
  });
  const auto times = measure_run(contender, gather_alone(), 0, 1);
  ASSERT_FALSE(times);
  EXPECT_EQ(times.error().code(), ErrorCode::kCorrupt);
  EXPECT_NE(times.error().text().find("wrong result in call 261: element 36"), std::string::npos)
      << times.error().text();
}

TEST(Contender, WhoDoesNothingIsFound) {
  Alone contender([](const Turn&) {});
  EXPECT_FALSE(measure_run(contender, gather_alone(), 0, 1));
}

}  // namespace
}  // namespace cohort::measure
