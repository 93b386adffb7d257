#pragma once

#include "solve/history.h"
#include "solve/penalties.h"
#include "solve/step_search.h"
#include <cohort/solver_settings.h>

#include <memory>
#include <optional>
#include <vector>

namespace cohort::solve {

/// L-BFGS and OWL-QN, sliced over ranks. The caller evaluates the objective where this asks for it:
///
///     Lbfgs solver(settings, {}, ranks, x);
///     while (!solver.end()) {                        // an iteration
///       Ask ask = solver.begin();
///       while (ask == Ask::kEvaluate) {
///         compute value and gradient at solver.point();
///         ask = solver.tell(value, gradient);
///       }
///     }
///
/// Vectors are the slices of this rank. The value is that of all ranks, the same on each. Between iterations
/// point() is the best point so far.
///
/// Threads: one at a time; all ranks make the same calls.
/// Lifetime: the ranks must outlive it.
/// Failure: what the ranks report. A function that is NaN, constant or unbounded is a reason to end.
/// Cost: 2 · history_size + 5 vectors, one more with l1. An iteration reads and writes about 8 · history_size
/// vectors, and sends one message of 4 · history_size + 2 sums, and one of up to 2 sums for each evaluation.
class Lbfgs {
 public:
  enum class Ask {
    kEvaluate,  ///< the objective at point()
    kNothing,   ///< the iteration is over
  };

  /// `start` is the first point.
  Lbfgs(const SolverSettings& settings, std::vector<Penalty> penalties, Ranks& ranks, ConstNumbers start);

  /// Begins an iteration, the first at the first point. After the end it goes on at point().
  Ask begin();
  /// The objective without penalties at point(), and its gradient.
  Result<Ask> tell(double value, ConstNumbers gradient);

  ConstNumbers point() const { return trial_; }
  const std::optional<SolverEnd>& end() const { return report_.end; }
  const SolverReport& report() const { return report_; }
  /// The step length under LineSearch::kNone, from the next iteration on.
  void set_learning_rate(double rate) { settings_.learning_rate = rate; }

  /// Visits everything that iterations change but the point, between iterations.
  void visit_vectors(const std::function<void(const std::string& name, Numbers vector)>& visitor);
  void visit_numbers(const std::function<void(const std::string& name, Numbers numbers)>& visitor);
  /// Takes another point over, with the state that was visited.
  void set_point(ConstNumbers point);
  std::size_t size_bytes() const;

 private:
  Result<Ask> start(double value);
  Result<Ask> search(double value);
  Result<Ask> accept(double loss);
  Ask choose_direction();
  Ask try_step();
  Ask retry_or_end();
  Ask finish(SolverEnd end);
  std::unique_ptr<StepSearch> make_search(double slope) const;
  void find_downhill();
  ConstNumbers downhill() const { return has_l1_ ? pseudo_ : gradient_; }

  SolverSettings settings_;
  const Penalties penalties_;
  const bool has_l1_;
  Ranks& ranks_;
  SolverReport report_;
  History history_;
  Vector point_;     // the best
  Vector gradient_;  // there, without that of l1
  Vector pseudo_;    // there; empty without l1
  Vector direction_;
  Vector trial_;
  Vector trial_gradient_;
  std::int64_t has_started_ = 0;  // value and gradient at the point are known
  std::unique_ptr<StepSearch> search_;
};

}  // namespace cohort::solve
