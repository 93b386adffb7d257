#include "measure/pattern.h"

#include <gtest/gtest.h>

namespace cohort::measure {
namespace {

// The formula of the header, element by element.
float value(int rank, std::size_t index, std::uint64_t salt) {
  return static_cast<float>((index + 37 * static_cast<std::size_t>(rank) + 11 * salt) % 251);
}

TEST(Pattern, ValuesFollowTheFormula) {
  for (const std::size_t size : {0u, 1u, 250u, 251u, 252u, 1009u}) {
    std::vector<float> numbers(size);
    write_values(numbers, 3, 1000003);
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(numbers[i], value(3, i, 1000003)) << i;
  }
}

TEST(Pattern, RanksAndCallsDiffer) {
  EXPECT_NE(shift_of(0, 5), shift_of(1, 5));
  EXPECT_NE(shift_of(0, 5), shift_of(0, 6));
  EXPECT_EQ(shift_of(0, UINT64_MAX), UINT64_MAX % 251 * 11 % 251);
}

TEST(Pattern, ASumIsRecognisedAndOneWrongElementIsNamed) {
  const Piece piece{.offset = 7, .count = 600, .first_index = 433, .ranks = {0, 2, 5}};
  std::vector<float> output(700, -1.0F);
  for (std::size_t j = 0; j < piece.count; ++j) {
    output[piece.offset + j] = value(0, 433 + j, 9) + value(2, 433 + j, 9) + value(5, 433 + j, 9);
  }
  EXPECT_EQ(find_mistake(output, piece, 9), std::nullopt);
  EXPECT_NE(find_mistake(output, piece, 10), std::nullopt);
  for (const std::size_t wrong : {std::size_t{0}, std::size_t{251}, piece.count - 1}) {
    std::vector<float> copy = output;
    copy[piece.offset + wrong] += 1;
    const auto mistake = find_mistake(copy, piece, 9);
    ASSERT_TRUE(mistake) << wrong;
    EXPECT_EQ(mistake->find("element " + std::to_string(piece.offset + wrong) + " is"), 0u) << *mistake;
  }
}

TEST(Pattern, PoisonIsNeverARightResult) {
  std::vector<float> output(10);
  write_poison(output);
  EXPECT_NE(find_mistake(output, {.count = 1, .ranks = {0}}, 0), std::nullopt);
}

}  // namespace
}  // namespace cohort::measure
