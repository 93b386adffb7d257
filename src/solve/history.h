#pragma once

#include "base/result.h"
#include "solve/ranks.h"
#include "solve/two_loop.h"
#include "solve/vectors.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cohort::solve {

/// The newest pairs of L-BFGS, each a step and the change of the gradient in it, and their inner products.
///
/// Threads: one at a time.
/// Failure: what the ranks report.
/// Cost: 2 · size vectors. A new pair takes 4 · size + 2 sums over the ranks, in one message.
class History {
 public:
  History(int size, std::size_t count, DType dtype);

  /// The memory for the next pair, of which add() makes a pair.
  Numbers next_step() { return steps_[head()]; }
  Numbers next_change() { return changes_[head()]; }
  /// Makes a pair of the memory, and takes the inner products with the gradient after it. A pair without
  /// positive curvature is dropped, with the pair that it has overwritten. `maxima` become those of all
  /// ranks.
  Status add(ConstNumbers gradient, Ranks& ranks, std::span<double> maxima);
  /// Forgets all pairs, and takes the inner product of this gradient with itself.
  Status begin(ConstNumbers gradient, Ranks& ranks, std::span<double> maxima);

  std::size_t num_pairs() const { return static_cast<std::size_t>(num_pairs_); }
  /// The direction of L-BFGS from the last gradient.
  Combination direction() const { return two_loop(products()); }
  /// Forgets all pairs: the direction is that of steepest descent.
  void forget() { num_pairs_ = 0; }
  /// Adds up a direction from its parts. `gradient` is the last.
  void add_up(const Combination& direction, ConstNumbers gradient, Numbers to) const;

  /// Visits the vectors, numbered by their place in the memory, and the numbers.
  void visit_vectors(const std::function<void(const std::string& name, Numbers vector)>& visitor);
  void visit_numbers(const std::function<void(const std::string& name, Numbers numbers)>& visitor);
  std::size_t size_bytes() const;

 private:
  std::size_t head() const { return static_cast<std::size_t>(head_) % steps_.size(); }
  /// The slot of a pair, numbered from the oldest.
  std::size_t slot(std::size_t pair) const;
  InnerProducts products() const;
  double& sy(std::size_t i, std::size_t j) { return sy_[i * steps_.size() + j]; }
  double& yy(std::size_t i, std::size_t j) { return yy_[i * steps_.size() + j]; }

  std::vector<Vector> steps_;
  std::vector<Vector> changes_;
  std::int64_t head_ = 0;        // the slot of the next pair
  std::int64_t num_pairs_ = 0;   // in the slots before it
  std::vector<double> sy_, yy_;  // by slots: row of the older pair, column of the newer
  std::vector<double> sg_, yg_;  // by slots
  double gg_ = 0;
};

}  // namespace cohort::solve
