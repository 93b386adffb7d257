#include "update/newton_schulz.h"

#include "base/exact_sum.h"
#include "update/kernels.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace cohort::update {
namespace {

// In squares, so that both matrices stay in the cache.
void transpose(const float* from, std::size_t rows, std::size_t columns, float* to) {
  constexpr std::size_t kSide = 16;
  for (std::size_t i0 = 0; i0 < rows; i0 += kSide) {
    for (std::size_t j0 = 0; j0 < columns; j0 += kSide) {
      for (std::size_t i = i0; i < std::min(i0 + kSide, rows); ++i) {
        for (std::size_t j = j0; j < std::min(j0 + kSide, columns); ++j) {
          to[j * rows + i] = from[i * columns + j];
        }
      }
    }
  }
}

// to = a·to + b·other
void mix(float a, std::vector<float>& to, float b, const std::vector<float>& other) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = a * to[i] + b * other[i];
}

}  // namespace

void orthogonalise(const MatrixView& matrix, const NewtonSchulz& how) {
  const auto multiply = kernels_of(best_set()).multiply;
  const bool is_tall = matrix.rows > matrix.columns;
  const std::size_t rows = is_tall ? matrix.columns : matrix.rows;
  const std::size_t columns = is_tall ? matrix.rows : matrix.columns;
  ExactSum squares;
  add_squares(matrix.elements, squares);
  const auto factor = static_cast<float>(1 / std::max(std::sqrt(squares.value()), how.eps));
  std::vector<float> x(matrix.elements.size()), turned(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) turned[i] = matrix.elements[i] * factor;
  if (is_tall) {
    transpose(turned.data(), matrix.rows, matrix.columns, x.data());
  } else {
    x.swap(turned);
  }
  std::vector<float> gram(rows * rows), square(rows * rows);
  const auto [a, b, c] = how.coefficients;
  for (int step = 0; step < how.steps; ++step) {
    transpose(x.data(), rows, columns, turned.data());
    multiply({x.data(), turned.data(), gram.data(), rows, columns, rows});
    multiply({gram.data(), gram.data(), square.data(), rows, rows, rows});
    mix(static_cast<float>(b), gram, static_cast<float>(c), square);
    multiply({gram.data(), x.data(), turned.data(), rows, rows, columns});
    mix(static_cast<float>(a), x, 1.0f, turned);
  }
  if (is_tall) {
    transpose(x.data(), rows, columns, matrix.elements.data());
  } else {
    std::copy(x.begin(), x.end(), matrix.elements.begin());
  }
}

}  // namespace cohort::update
