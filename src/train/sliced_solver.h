#pragma once

#include "solve/minimize.h"
#include "solve/ranks.h"
#include "solve/vectors.h"
#include "train/parameter_vector.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace cohort::train {

/// The losses of the samples of a rank, and what it wants: numbers of which all ranks get the largest.
struct LossOfRank {
  double loss = 0;    ///< the sum
  double weight = 0;  ///< likewise
  double wants_to_stop = 0;
  double wants_to_save = 0;
};

/// The objective of a rank: its samples, at the present values of the parameters.
///
/// Failure: throws.
class ObjectiveOfRank {
 public:
  virtual ~ObjectiveOfRank() = default;
  /// Adds the gradient of the sum of losses.
  virtual LossOfRank evaluate(ParameterVector& sum) = 0;
  /// Adds the product of JᵀHJ, summed over the samples, with a vector: one tensor for each parameter.
  virtual void multiply(const std::vector<at::Tensor>& vector, ParameterVector& sum) = 0;
  /// The parameters have changed since the last call.
  virtual void moved() {}
};

/// A solver that minimises the mean loss of all ranks over the parameters of a module. The ranks compute
/// their samples at the same point; each keeps a slice of the vectors of the solver.
///
/// Threads: one at a time; all ranks make the same calls.
/// Lifetime: the group must outlive it.
/// Failure: throws what the group and the objective throw, and kDiverged if the loss at the first point is
/// NaN or infinite. The caller tells the other ranks.
/// Cost: as solve::Lbfgs or solve::GaussNewton, and ParameterVector. An evaluation is a reduce-scatter of the
/// gradient and, but for the first, an all-gather of the parameters.
class SlicedSolver {
 public:
  SlicedSolver(Communicator& group, std::vector<NamedTensor> parameters, const SolverSettings& settings,
               const std::vector<ParameterPenalty>& penalties);

  /// Makes up to so many iterations, and leaves the best point in the parameters. All ranks must have the
  /// same parameters.
  SolverReport iterate(ObjectiveOfRank& objective, std::int64_t max_iterations);
  /// The largest numbers of all ranks in the last evaluation.
  const LossOfRank& wanted() const { return wanted_; }
  void set_learning_rate(double rate) { method_->set_learning_rate(rate); }
  const SolverReport& report() const { return method_->report(); }

  /// Visits vectors and numbers of the solver, not the parameters.
  void visit(const StateVisitor& visitor);
  /// Goes on from the present parameters with the state that was visited.
  void take_parameters();
  /// Begins anew if parameters were changed on any rank since the last iterate().
  void notice_changes();
  /// Keeps in mind, on this rank, that parameters were changed, before take_parameters() takes them over.
  void note_changes();

  std::size_t size_bytes() const { return method_->size_bytes() + vector_.size_bytes(); }
  /// The time of waiting for other ranks, and the bytes of scalars sent to each of them.
  std::chrono::nanoseconds waited() const { return waited_; }
  std::uint64_t scalar_bytes() const { return ranks_.bytes_sent(); }

 private:
  double evaluate(ObjectiveOfRank& objective, Numbers gradient);
  void multiply(ObjectiveOfRank& objective, ConstNumbers vector, Numbers product);
  void go_to(ConstNumbers point, ObjectiveOfRank& objective);
  void sum_over_ranks(Numbers to);
  void run(const Call& call);

  Communicator& group_;
  solve::RanksOfGroup ranks_;
  ParameterVector vector_;
  std::unique_ptr<solve::Minimizer> method_;
  solve::Vector memory_;
  std::int64_t place_ = 0;  // moves() of the point in the parameters
  bool has_changes_ = false;
  double weight_ = 0;  // of all samples
  LossOfRank wanted_{};
  std::chrono::nanoseconds waited_{0};
};

}  // namespace cohort::train
