// A Feistel network over a grid that has just room for all samples:
//
//     index = row * columns + column        rows * columns >= samples, by fewer than rows
//     row    += f1(column)  mod rows           each of these lines is invertible, so their sequence permutes
//     column += f2(row)     mod columns        the grid; eight lines mix it
//
// Cycle walking: a result beyond the last sample is permuted again until it is a sample. Fewer than `rows`
// cells of the grid lie beyond the last sample, so one round is nearly always enough.

#include "layout/sample_order.h"

#include <cohort/random.h>

#include "base/check.h"

#include <array>
#include <cmath>

namespace cohort {
namespace {

constexpr std::size_t kRounds = 4;                     // each round moves the row and the column
constexpr std::uint64_t kStream = 0x73616D706C657321;  // separates this use of the seed from other uses

using Keys = std::array<std::uint64_t, 2 * kRounds>;

Keys keys_of(std::uint64_t seed, std::uint64_t epoch) {
  const RandomStream stream = RandomStream(seed, kStream).substream(epoch);
  Keys keys{};
  for (std::size_t i = 0; i < keys.size(); i += 2) {
    const auto words = stream.block(i);
    keys[i] = words[0] | (static_cast<std::uint64_t>(words[1]) << 32);
    keys[i + 1] = words[2] | (static_cast<std::uint64_t>(words[3]) << 32);
  }
  return keys;
}

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// Maps 64 random bits to a number below `limit`: the upper half of their 128-bit product.
std::uint64_t below(std::uint64_t limit, std::uint64_t bits) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(bits) * limit) >> 64);
}

std::uint64_t moved(std::uint64_t index, std::uint64_t by, std::uint64_t size) {
  return index >= size - by ? index - (size - by) : index + by;
}

std::uint64_t permuted(std::uint64_t cell, std::uint64_t rows, std::uint64_t columns, const Keys& keys) {
  std::uint64_t row = cell / columns, column = cell % columns;
  for (std::size_t i = 0; i < keys.size(); i += 2) {
    row = moved(row, below(rows, mixed(column * 0x9E3779B97F4A7C15u + keys[i])), rows);
    column = moved(column, below(columns, mixed(row * 0x9E3779B97F4A7C15u + keys[i + 1])), columns);
  }
  return row * columns + column;
}

// The smallest number whose square is at least n.
std::uint64_t root_above(std::uint64_t n) {
  auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(n)));
  while (root * root >= n && root > 1) --root;
  while (root * root < n) ++root;
  return root;
}

}  // namespace

SampleOrder::SampleOrder(std::uint64_t num_samples, Shuffle shuffle, std::uint64_t seed)
    : num_samples_(num_samples), shuffle_(shuffle), seed_(seed), rows_(1), columns_(1) {
  COHORT_CHECK_LT(num_samples, std::uint64_t{1} << 62);
  if (num_samples == 0) return;
  rows_ = root_above(num_samples);
  columns_ = (num_samples + rows_ - 1) / rows_;
}

std::uint64_t SampleOrder::at(std::uint64_t epoch, std::uint64_t index) const {
  COHORT_CHECK_LT(index, num_samples_);
  if (shuffle_ == Shuffle::kNone) return index;
  const Keys keys = keys_of(seed_, epoch);
  do {
    index = permuted(index, rows_, columns_, keys);
  } while (index >= num_samples_);
  return index;
}

}  // namespace cohort
