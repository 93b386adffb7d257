#pragma once

#include <cohort/evaluation.h>
#include <cohort/export.h>
#include <cohort/solver_settings.h>
#include <cohort/state.h>

#include <functional>
#include <memory>

namespace torch::nn {
class Module;
}

namespace cohort {

class Communicator;
class Group;

/// A solver for a training loop of your own, as torch.optim.LBFGS, for all ranks together: a closure computes
/// the loss of the samples of its rank, and its gradient.
///
///     cohort::Context context;
///     auto net = std::make_shared<Net>();
///     cohort::Solver solver(context, *net, {.kind = cohort::SolverKind::kLbfgs, .max_iterations = 100});
///     const cohort::SolverReport report = solver.step([&] {
///       const at::Tensor loss = losses(net->forward(input), target).sum();
///       loss.backward();
///       return cohort::Evaluation{.loss = loss, .weight = static_cast<double>(input.size(0))};
///     });
///
/// The objective is the sum of the losses of all ranks, divided by the sum of their weights, plus the
/// penalties of the settings. A closure may call backward() several times, each for some of the samples. It
/// must give the same loss for the same parameters: without dropout, and with batch normalisation in
/// evaluation mode. Parameters are f32 or f64, all of one type.
///
/// Threads: one thread at a time; all ranks make the same calls.
/// Lifetime: the module must outlive this object, which keeps what it needs of its group alive.
/// Failure: throws Error; an exception of a closure ends the step on all ranks, and the others throw an Error
/// with its text. kDiverged if the loss at the first point is NaN or infinite. After a failure the parameters
/// are those of the last trial.
/// Cost: vectors of the solver are cut into a slice for each rank, 2 · history_size + 6 for lbfgs and 9 for
/// gauss-newton; each rank has two further ones in full, one of them in f64. An evaluation sends the
/// gradient and the parameters once, as one all-reduce does, and an iteration at most 4 KiB of scalars with a
/// history of 10.
class COHORT_EXPORT Solver {
 public:
  /// Computes the losses of this rank and adds their gradient to that of the parameters, which is undefined
  /// at first.
  using Closure = std::function<Evaluation()>;
  /// Computes the residuals of this rank, differentiable: a tensor of any shape.
  using Residuals = std::function<at::Tensor()>;

  /// Broadcasts the parameters and buffers of rank 0.
  Solver(Group& group, torch::nn::Module& module, const SolverSettings& settings = {});
  Solver(Communicator& group, torch::nn::Module& module, const SolverSettings& settings = {});
  ~Solver();
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  /// Makes up to SolverSettings::max_iterations iterations, fewer if the solver ends: SolverReport::end says
  /// why. The parameters get the best point so far, on all ranks. A further step goes on from there, or
  /// begins anew if parameters were changed meanwhile; the closure must stay the same. For lbfgs and owlqn.
  SolverReport step(const Closure& closure);
  /// The same for gauss-newton: the objective is half the sum of the squares of the residuals of all ranks,
  /// plus penalties. The graph of the residuals is kept during an iteration.
  SolverReport least_squares_step(const Residuals& residuals);

  const SolverReport& report() const;
  /// The bytes of the vectors of the solver on this rank.
  std::size_t size_bytes() const;
  /// Visits the module and the state of the solver, as cohort::visit_state() does: `weight/gradient`,
  /// `weight/step_0`, … as slices of their tensors. Changes through the visitor become the state.
  void visit_state(const StateVisitor& visitor);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cohort
