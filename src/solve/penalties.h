#pragma once

#include "base/exact_sum.h"
#include <cohort/numbers.h>

#include <cstddef>
#include <vector>

namespace cohort::solve {

/// A penalty on some elements of a slice: l1 |x|₁ + ½ l2 |x|². They begin at a multiple of 16.
struct Penalty {
  std::size_t first = 0;
  std::size_t count = 0;
  double l1 = 0;
  double l2 = 0;
};

/// The penalties that are added to an objective. That with l1 has no gradient where an element is 0; the
/// pseudo-gradient of these has the smallest amount that a step to either side finds, and is 0 if both sides
/// are uphill.
///
/// Threads: immutable; any number of threads may use it.
class Penalties {
 public:
  explicit Penalties(std::vector<Penalty> all);

  /// True if some element has an l1 penalty; all ranks must agree.
  bool has_l1() const { return has_l1_; }
  bool has_any() const { return has_l1_ || has_l2_; }
  /// Adds the penalty of the point.
  void add_value(ConstNumbers point, ExactSum& sum) const;
  /// Adds the gradient of the l2 penalties.
  void add_gradient(ConstNumbers point, Numbers gradient) const;
  /// The pseudo-gradient of objective and penalties, from the gradient of all but the l1 penalties.
  void pseudo_gradient(ConstNumbers point, ConstNumbers gradient, Numbers to) const;
  /// Sets the elements of a direction to 0 that do not lead downhill.
  void project_direction(ConstNumbers pseudo_gradient, Numbers direction) const;
  /// Sets the elements of a trial point to 0 that have left the orthant of `point`. An element that is 0
  /// there may go to the side that leads downhill.
  void project_point(ConstNumbers point, ConstNumbers pseudo_gradient, Numbers trial) const;

 private:
  std::vector<Penalty> all_;
  bool has_l1_ = false;
  bool has_l2_ = false;
};

}  // namespace cohort::solve
