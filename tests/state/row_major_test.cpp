#include "state/row_major.h"

#include "layout/slice.h"

#include <gtest/gtest.h>
#include <numeric>

namespace cohort::test {
namespace {

using state::boxes_of_range;
using state::RowMajorPieces;

// The numbers of the elements of a box in a row-major tensor.
void add_numbers(const Box& box, const Shape& shape, std::size_t dimension, std::size_t number,
                 std::vector<std::size_t>& numbers) {
  if (dimension == shape.size()) return numbers.push_back(number);
  for (std::size_t i = 0; i < box.lengths[dimension]; ++i) {
    add_numbers(box, shape, dimension + 1, number * shape[dimension] + box.first[dimension] + i, numbers);
  }
}

std::vector<std::size_t> numbers_of(const std::vector<Box>& boxes, const Shape& shape) {
  std::vector<std::size_t> numbers;
  for (const Box& box : boxes) add_numbers(box, shape, 0, 0, numbers);
  return numbers;
}

TEST(RowMajor, ARangeIsAFewBoxes) {
  for (const Shape& shape : {Shape{7}, Shape{3, 5}, Shape{2, 1, 3}, Shape{3, 2, 2, 3}}) {
    const std::size_t all = num_elements(shape);
    for (std::size_t first = 0; first <= all; ++first) {
      for (std::size_t count = 0; first + count <= all; ++count) {
        const auto boxes = boxes_of_range(whole(shape).boxes.front(), first, count);
        std::vector<std::size_t> expected(count);
        std::iota(expected.begin(), expected.end(), first);
        EXPECT_EQ(numbers_of(boxes, shape), expected);
        EXPECT_LE(boxes.size(), 2 * shape.size());
      }
    }
  }
}

// A tensor of shape 2×3×2×2 in channels last whose elements are their numbers in row-major order.
constexpr std::size_t kCount = 24;
const Shape kShape{2, 3, 2, 2}, kInMemory{2, 2, 2, 3};
const std::vector<std::size_t> kOrder{0, 2, 3, 1};

template <class Number>
std::vector<Number> numbers_in_memory() {
  std::vector<Number> memory;
  for (std::size_t n = 0; n < 2; ++n) {
    for (std::size_t hw = 0; hw < 4; ++hw) {
      for (std::size_t c = 0; c < 3; ++c) memory.push_back(static_cast<Number>((n * 3 + c) * 4 + hw));
    }
  }
  return memory;
}

template <class Number>
Piece part_of(std::vector<Number>& memory, DType dtype, std::size_t first, std::size_t count) {
  return {.name = "w",
          .dtype = dtype,
          .shape = kShape,
          .mine = flat_range(kInMemory, first, count),
          .bytes = std::as_writable_bytes(std::span(memory).subspan(first, count)),
          .memory = PieceMemory::kOfHost,
          .order = kOrder};
}

template <class Number>
void expect_turned(DType dtype) {
  const std::vector<Number> filled = numbers_in_memory<Number>();
  for (std::size_t first = 0; first < kCount; ++first) {
    for (std::size_t count = 1; first + count <= kCount; ++count) {
      std::vector<Number> memory = filled;
      RowMajorPieces turned({part_of(memory, dtype, first, count)});
      turned.read();
      const Piece& piece = turned.pieces().front();
      ASSERT_TRUE(check_slice(kShape, piece.mine));
      EXPECT_TRUE(piece.order.empty());
      EXPECT_EQ(piece.memory, PieceMemory::kOwn) << "no other rank sees the copy";
      const auto expected = numbers_of(piece.mine.boxes, kShape);
      ASSERT_EQ(piece.bytes.size(), expected.size() * sizeof(Number));
      auto* const found = reinterpret_cast<Number*>(piece.bytes.data());
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(static_cast<std::size_t>(found[i]), expected[i]);
      for (std::size_t i = 0; i < count; ++i) found[i] = static_cast<Number>(found[i] + 100);
      turned.write();
      for (std::size_t i = 0; i < kCount; ++i) {
        const bool is_part = i >= first && i < first + count;
        EXPECT_EQ(memory[i], static_cast<Number>(filled[i] + (is_part ? 100 : 0)));
      }
    }
  }
}

TEST(RowMajor, PiecesOfChannelsLastAreTurnedAndTurnedBack) {
  expect_turned<std::uint8_t>(DType::kU8);
  expect_turned<std::int16_t>(DType::kI16);
  expect_turned<float>(DType::kF32);
  expect_turned<double>(DType::kF64);
}

TEST(RowMajor, OtherPiecesStayWhereTheyAre) {
  std::vector<float> numbers(6);
  RowMajorPieces turned({{.name = "w",
                          .shape = {2, 3},
                          .mine = flat_range({2, 3}, 0, 6),
                          .bytes = std::as_writable_bytes(std::span(numbers)),
                          .memory = PieceMemory::kOfHost}});
  EXPECT_EQ(static_cast<void*>(turned.pieces().front().bytes.data()), numbers.data());
  EXPECT_EQ(turned.pieces().front().memory, PieceMemory::kOfHost);
}

}  // namespace
}  // namespace cohort::test
