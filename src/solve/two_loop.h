#pragma once

#include <cstddef>
#include <vector>

namespace cohort::solve {

/// The inner products of the vectors of a history of L-BFGS and of a gradient. s: steps, y: the changes of
/// the gradient, g: the gradient; pairs (s, y) are numbered from the oldest.
struct InnerProducts {
  explicit InnerProducts(std::size_t num_pairs)
      : sy(num_pairs, std::vector<double>(num_pairs)), yy(sy), sg(num_pairs), yg(num_pairs) {}

  std::vector<std::vector<double>> sy;  ///< sy[i][j] = sᵢ · yⱼ, for i ≤ j
  std::vector<std::vector<double>> yy;  ///< yy[i][j] = yᵢ · yⱼ, for i ≤ j
  std::vector<double> sg;               ///< sᵢ · g
  std::vector<double> yg;               ///< yᵢ · g
  double gg = 0;                        ///< g · g
};

/// A direction as a sum of vectors: gradient · g + Σ steps[i] · sᵢ + Σ changes[i] · yᵢ.
struct Combination {
  double gradient = 0;
  std::vector<double> steps{};
  std::vector<double> changes{};
  double slope = 0;  ///< the inner product of the direction with g
};

/// The direction −H g of L-BFGS, by the two-loop recursion on inner products alone: the vectors are read once
/// to compute these, and once to add up the direction. Without pairs it is −g.
///
/// Cost: O(pairs²) operations.
Combination two_loop(const InnerProducts& products);

}  // namespace cohort::solve
