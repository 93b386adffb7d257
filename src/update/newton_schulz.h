#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace cohort::update {

/// A matrix in row-major order.
struct MatrixView {
  std::span<float> elements{};
  std::size_t rows = 0;
  std::size_t columns = 0;
};

struct NewtonSchulz {
  std::array<double, 3> coefficients{};
  int steps = 0;
  double eps = 0;  ///< the least norm that the matrix is divided by
};

/// Moves the singular values of a matrix towards 1, as cohort/optimizer.h writes it for muon. The bits are
/// the same on every machine.
///
/// Cost: for r rows and c columns, of which r are fewer, 2rc + r² times r multiplications in each step, in
/// f32, and memory for 2rc + 2r² numbers.
void orthogonalise(const MatrixView& matrix, const NewtonSchulz& how);

}  // namespace cohort::update
