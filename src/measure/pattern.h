#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cohort::measure {

/// The numbers that are sent: element `index` of rank `rank` in call `salt` is (index + 37 rank + 11 salt)
/// mod 251. They differ by rank, index and call; as small whole numbers they have the same sum in every
/// order.
inline constexpr std::size_t kPeriod = 251;

/// Where in the period rank's numbers begin in call `salt`.
std::size_t shift_of(int rank, std::uint64_t salt);

/// Writes the numbers of `rank` into all of `to`.
void write_values(std::span<float> to, int rank, std::uint64_t salt);
/// Writes not-a-numbers: what is still there afterwards was not received.
void write_poison(std::span<float> to);

/// A run of a result: output[offset + j] must be the sum over `ranks` of their element first_index + j.
struct Piece {
  std::size_t offset = 0;
  std::size_t count = 0;
  std::size_t first_index = 0;
  std::vector<int> ranks{};
};

/// What is wrong with a piece, in words; nothing if all of its numbers are right.
std::optional<std::string> find_mistake(std::span<const float> output, const Piece& piece,
                                        std::uint64_t salt);

}  // namespace cohort::measure
