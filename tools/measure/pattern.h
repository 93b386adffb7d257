#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cohort::measure {

/// The values that are sent: element `index` of rank `rank` in call `salt` is (index + 37 rank + 11 salt) mod
/// 251. Values differ by rank, index and call; they are small whole numbers, so every order of summation
/// gives the same sum.
inline constexpr std::size_t kPeriod = 251;

/// The position in the period at which the values of a rank begin in call `salt`.
std::size_t shift_of(int rank, std::uint64_t salt);

/// Writes the values of `rank` into all of `to`.
void write_values(std::span<float> to, int rank, std::uint64_t salt);
/// Fills a buffer with NaN: an element that is NaN after a call was not received.
void write_poison(std::span<float> to);

/// A run of a result: output[offset + j] must be the sum over `ranks` of their elements first_index + j.
struct Piece {
  std::size_t offset = 0;
  std::size_t count = 0;
  std::size_t first_index = 0;
  std::vector<int> ranks{};
};

/// The first wrong element of a piece, in words; empty if all elements are right.
std::optional<std::string> find_mistake(std::span<const float> output, const Piece& piece,
                                        std::uint64_t salt);

}  // namespace cohort::measure
