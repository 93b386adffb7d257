#include "checkpoint/changes.h"

#include "layout/slice.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

namespace cohort::checkpoint {
namespace {

/// A piece, and its memory.
struct Tensor {
  Tensor(std::string name, Shape shape, Slice mine, Merge merge = Merge::kSame) : numbers(mine.count) {
    std::iota(numbers.begin(), numbers.end(), 0.0F);
    piece = {.name = std::move(name),
             .shape = std::move(shape),
             .mine = std::move(mine),
             .merge = merge,
             .bytes = std::as_writable_bytes(std::span(numbers))};
  }
  Tensor(const std::string& name, const Shape& shape) : Tensor(name, shape, whole(shape)) {}

  std::vector<float> numbers;
  Piece piece;
};

/// Consecutive elements of a piece.
struct Range {
  std::size_t first = 0, count = 0;
  bool operator==(const Range&) const = default;
};

// The ranges that count as changed after `changed` elements got another number.
std::vector<Range> changes(Tensor tensor, const std::vector<std::size_t>& changed) {
  tensor.piece.bytes = std::as_writable_bytes(std::span(tensor.numbers));
  Changes finder;
  finder.set_base(std::vector{tensor.piece});
  for (const std::size_t i : changed) tensor.numbers.at(i) = -1;
  std::vector<Range> ranges;
  for (const Piece& part : finder.since_base(std::vector{tensor.piece})) {
    EXPECT_EQ(part.bytes.size(), part.mine.count * sizeof(float));
    const std::size_t first = part.mine.first - tensor.piece.mine.first;
    EXPECT_EQ(part.bytes.data(), tensor.piece.bytes.data() + first * sizeof(float));
    EXPECT_EQ(part.mine.boxes, tensor.piece.mine.boxes);
    ranges.push_back({first, part.mine.count});
  }
  return ranges;
}

using Ranges = std::vector<Range>;

TEST(ChangedRows, AreNoneIfNothingChanges) {
  EXPECT_EQ(changes(Tensor("w", {10, 200}), {}), Ranges());
  EXPECT_EQ(changes(Tensor("empty", {0, 7}), {}), Ranges());
}

TEST(ChangedRows, AreThoseOfAMatrix) {
  const Tensor matrix("w", {10, 200});
  EXPECT_EQ(changes(matrix, {0}), (Ranges{{0, 200}}));
  EXPECT_EQ(changes(matrix, {199, 1999}), (Ranges{{0, 200}, {1800, 200}}));
  EXPECT_EQ(changes(matrix, {400, 700, 1000}), (Ranges{{400, 400}, {1000, 200}}));
}

// Rows of less than 512 bytes are taken together, and a vector has parts of 512 bytes.
TEST(ChangedRows, OfShortTensorsAreTakenTogether) {
  EXPECT_EQ(changes(Tensor("w", {100, 3}), {0, 299}), (Ranges{{0, 129}, {258, 42}}));
  EXPECT_EQ(changes(Tensor("v", {300}), {127, 128}), (Ranges{{0, 256}}));
  EXPECT_EQ(changes(Tensor("v", {300}), {299}), (Ranges{{256, 44}}));
  EXPECT_EQ(changes(Tensor("scalar", Shape{}), {0}), (Ranges{{0, 1}}));
}

TEST(ChangedRows, OfLongRowsAreCut) {
  EXPECT_EQ(changes(Tensor("w", {2, 40'000}), {16'384}), (Ranges{{16'384, 16'384}}));
  EXPECT_EQ(changes(Tensor("w", {2, 40'000}), {79'999}), (Ranges{{65'536, 14'464}}));
}

TEST(ChangedRows, AreCountedFromTheStartOfASlice) {
  const Tensor half("w", {10, 200}, {.boxes = {{{0, 100}, {10, 100}}}, .first = 50, .count = 900});
  EXPECT_EQ(changes(half, {0, 899}), (Ranges{{0, 200}, {800, 100}}));
}

// The bits count, not the numbers.
TEST(ChangedRows, NoticeNegativeZeroAndNaN) {
  Tensor tensor("v", {4});
  Changes finder;
  finder.set_base(std::vector{tensor.piece});
  tensor.numbers[0] = -0.0F;
  EXPECT_EQ(finder.since_base(std::vector{tensor.piece}).size(), 1u);
  tensor.numbers[0] = std::nanf("");
  finder.set_base(std::vector{tensor.piece});
  EXPECT_EQ(finder.since_base(std::vector{tensor.piece}).size(), 0u);
}

// Copies on other ranks may have changed.
TEST(ChangedRows, OfMergedPiecesAreAll) {
  EXPECT_EQ(changes(Tensor("mean", {10, 200}, whole({10, 200}), Merge::kMean), {}), (Ranges{{0, 2000}}));
}

TEST(ChangedRows, AreSinceTheLastBase) {
  Tensor tensor("v", {4});
  Changes finder;
  for (int i = 0; i < 3; ++i) {
    finder.set_base(std::vector{tensor.piece});
    EXPECT_EQ(finder.since_base(std::vector{tensor.piece}).size(), 0u);
    tensor.numbers[2] += 1;
    EXPECT_EQ(finder.since_base(std::vector{tensor.piece}).size(), 1u);
  }
}

}  // namespace
}  // namespace cohort::checkpoint
