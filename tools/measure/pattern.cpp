#include "measure/pattern.h"

#include "base/check.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>

namespace cohort::measure {
namespace {

// Two periods: a run of one period may begin at any position in the first.
using Table = std::array<float, 2 * kPeriod>;

Table sums_of(const std::vector<int>& ranks, std::uint64_t salt) {
  Table table{};
  for (const int rank : ranks) {
    const std::size_t shift = shift_of(rank, salt);
    for (std::size_t i = 0; i < table.size(); ++i) table[i] += static_cast<float>((i + shift) % kPeriod);
  }
  return table;
}

}  // namespace

std::size_t shift_of(int rank, std::uint64_t salt) {
  return (static_cast<std::uint64_t>(rank) * 37 + salt % kPeriod * 11) % kPeriod;
}

void write_values(std::span<float> to, int rank, std::uint64_t salt) {
  const Table table = sums_of({rank}, salt);
  for (std::size_t done = 0; done < to.size(); done += kPeriod) {
    std::memcpy(to.data() + done, table.data(), std::min(kPeriod, to.size() - done) * sizeof(float));
  }
}

void write_poison(std::span<float> to) {
  if (!to.empty()) std::memset(to.data(), 0xFF, to.size_bytes());
}

std::optional<std::string> find_mistake(std::span<const float> output, const Piece& piece,
                                        std::uint64_t salt) {
  COHORT_CHECK_LE(piece.offset + piece.count, output.size());
  const Table table = sums_of(piece.ranks, salt);
  const float* const expected = table.data() + piece.first_index % kPeriod;
  const float* const got = output.data() + piece.offset;
  for (std::size_t done = 0; done < piece.count; done += kPeriod) {
    const std::size_t length = std::min(kPeriod, piece.count - done);
    if (std::equal(got + done, got + done + length, expected)) continue;
    const auto index =
        static_cast<std::size_t>(std::mismatch(got + done, got + done + length, expected).first - got);
    return fmt::format("element {} is {}, expected {}", piece.offset + index, got[index],
                       expected[index - done]);
  }
  return std::nullopt;
}

}  // namespace cohort::measure
