#pragma once

#include "solve/history.h"
#include "solve/minimizer.h"
#include "solve/penalties.h"
#include "solve/step_search.h"

#include <memory>
#include <vector>

namespace cohort::solve {

/// L-BFGS and OWL-QN, sliced over ranks.
///
/// Threads: as Minimizer.
/// Lifetime: the ranks must outlive it.
/// Failure: as Minimizer.
/// Cost: 2 · history_size + 5 vectors, one more with l1. An iteration reads and writes about 8 · history_size
/// vectors, and sends one message of 4 · history_size + 2 sums, and one of up to 2 sums for each evaluation.
class Lbfgs final : public Minimizer {
 public:
  /// `start` is the first point.
  Lbfgs(const SolverSettings& settings, std::vector<Penalty> penalties, Ranks& ranks, ConstNumbers start);

  Ask begin() override;
  Result<Ask> tell(double value, ConstNumbers gradient) override;
  Result<Ask> tell_product(ConstNumbers product) override;

  ConstNumbers point() const override { return trial_; }
  ConstNumbers vector() const override { return direction_; }
  void set_learning_rate(double rate) override { settings_.learning_rate = rate; }

  void visit_vectors(const std::function<void(const std::string& name, Numbers vector)>& visitor) override;
  void visit_numbers(const std::function<void(const std::string& name, Numbers numbers)>& visitor) override;
  void set_point(ConstNumbers point) override;
  void begin_anew(ConstNumbers point) override;
  std::size_t size_bytes() const override;

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
