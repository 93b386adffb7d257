#pragma once

#include "base/result.h"
#include <cohort/numbers.h>
#include <cohort/solver_settings.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace cohort::solve {

/// A solver, sliced over ranks. The caller computes where this asks for it:
///
///     while (!solver.end()) {                        // an iteration
///       Ask ask = solver.begin();
///       while (ask != Ask::kNothing) {
///         if (ask == Ask::kEvaluate) {
///           ask = solver.tell(value and gradient at solver.point());
///         } else {
///           ask = solver.tell_product(the matrix at solver.point() times solver.vector());
///         }
///       }
///     }
///
/// Vectors are the slices of this rank. The value is that of all ranks, the same on each. Between iterations
/// point() is the best point so far.
///
/// Threads: one at a time; all ranks make the same calls.
/// Failure: what the ranks report. A function that is NaN, constant or unbounded is a reason to end.
class Minimizer {
 public:
  enum class Ask {
    kEvaluate,  ///< the objective at point()
    kMultiply,  ///< the product of the matrix at point() and vector()
    kNothing,   ///< the iteration is over
  };

  virtual ~Minimizer() = default;

  /// Begins an iteration, the first at the first point. After the end it goes on at point().
  virtual Ask begin() = 0;
  /// The objective without penalties at point(), and its gradient.
  virtual Result<Ask> tell(double value, ConstNumbers gradient) = 0;
  virtual Result<Ask> tell_product(ConstNumbers product) = 0;

  virtual ConstNumbers point() const = 0;
  virtual ConstNumbers vector() const = 0;
  /// How often point() has become another one.
  std::int64_t moves() const { return moves_; }
  const std::optional<SolverEnd>& end() const { return report_.end; }
  const SolverReport& report() const { return report_; }
  /// The step length under LineSearch::kNone, from the next iteration on.
  virtual void set_learning_rate(double rate) = 0;

  /// Visits everything that iterations change but the point, between iterations.
  virtual void visit_vectors(const std::function<void(const std::string& name, Numbers vector)>& visitor) = 0;
  virtual void visit_numbers(
      const std::function<void(const std::string& name, Numbers numbers)>& visitor) = 0;
  /// Takes another point over, with the state that was visited.
  virtual void set_point(ConstNumbers point) = 0;
  /// Takes another point over, at which nothing is known.
  virtual void begin_anew(ConstNumbers point) = 0;
  virtual std::size_t size_bytes() const = 0;

 protected:
  SolverReport report_{};
  std::int64_t moves_ = 0;
};

}  // namespace cohort::solve
