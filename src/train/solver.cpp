#include <cohort/solver.h>

#include "nn/synchronised_layers.h"
#include "solve/settings_table.h"
#include "train/abort.h"
#include "train/curvature_product.h"
#include "train/evaluator.h"
#include "train/module_tensors.h"
#include "train/sliced_solver.h"
#include "train/tensor_pieces.h"
#include <cohort/error.h>
#include <cohort/group.h>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/nn/module.h>

namespace cohort {
namespace {

using train::LossOfRank;
using train::ParameterVector;

/// The objective of a closure that calls backward().
class ClosureObjective final : public train::ObjectiveOfRank {
 public:
  explicit ClosureObjective(const Solver::Closure& closure) : closure_(closure) {}

  LossOfRank evaluate(ParameterVector& sum) override {
    for (const at::Tensor& parameter : sum.tensors()) parameter.mutable_grad() = at::Tensor();
    const Evaluation found = closure_();
    train::check_is_one_number(found.loss);
    bool has_gradient = false;
    for (std::size_t p = 0; p < sum.tensors().size(); ++p) {
      const at::Tensor gradient = sum.tensors()[p].grad();
      has_gradient = has_gradient || gradient.defined();
      sum.add(p, gradient);
      sum.tensors()[p].mutable_grad() = at::Tensor();
    }
    if (!has_gradient && found.weight > 0) {
      throw UsageError(UsageError("no parameter has a gradient after the closure")
                           .with_remedy("Call backward() on the loss inside the closure."));
    }
    return {.loss = found.loss.item<double>(), .weight = found.weight};
  }
  void multiply(const std::vector<at::Tensor>& /*vector*/, ParameterVector& /*sum*/) override {}

 private:
  const Solver::Closure& closure_;
};

/// Half the sum of the squares of residuals, whose graph stays for products.
class ResidualsObjective final : public train::ObjectiveOfRank {
 public:
  ResidualsObjective(const Solver::Residuals& residuals, bool is_first)
      : residuals_(residuals), is_first_(is_first) {}

  LossOfRank evaluate(ParameterVector& sum) override {
    compute();
    const at::Tensor value = now_.detach();
    add(torch::autograd::grad({now_}, sum.tensors(), {value}, /*retain_graph=*/true, /*create_graph=*/false,
                              /*allow_unused=*/true),
        sum);
    return {.loss = value.to(at::kDouble).square().sum().item<double>() / 2, .weight = is_first_ ? 1.0 : 0.0};
  }
  void multiply(const std::vector<at::Tensor>& vector, ParameterVector& sum) override {
    if (!now_.defined()) compute();
    add(train::curvature_product(now_, {}, sum.tensors(), vector), sum);
  }
  void moved() override { now_ = at::Tensor(); }

 private:
  void compute() {
    now_ = residuals_();
    if (now_.defined() && now_.requires_grad()) return;
    throw UsageError(
        UsageError("the residuals do not depend on a parameter of the module")
            .with_remedy("Compute them with the module, and without at::NoGradGuard or detach()."));
  }
  static void add(const std::vector<at::Tensor>& gradients, ParameterVector& sum) {
    for (std::size_t p = 0; p < gradients.size(); ++p) sum.add(p, gradients[p]);
  }

  const Solver::Residuals& residuals_;
  const bool is_first_;  // the sum is divided by the sum of weights, which is 1
  at::Tensor now_;
};

void check_kind(const SolverSettings& settings, bool is_least_squares) {
  if ((settings.kind == SolverKind::kGaussNewton) == is_least_squares) return;
  throw UsageError(
      UsageError(fmt::format("SolverSettings::kind is {}, which {} residuals", name(settings.kind),
                             is_least_squares ? "has no use for" : "requires"))
          .with_remedy(is_least_squares ? "Call Solver::step(), or set the kind to kGaussNewton."
                                        : "Call Solver::least_squares_step(), or set the kind to kLbfgs."));
}

}  // namespace

struct Solver::Parts {
  std::shared_ptr<void> keeps{};  // before the rest, to be destroyed after it; may be null
  Communicator& group;
  const SolverSettings settings;
  const train::ModuleTensors tensors;
  std::unique_ptr<train::SlicedSolver> solver{};

  void begin(torch::nn::Module& module);
  SolverReport step(train::ObjectiveOfRank& objective);
};

void Solver::Parts::begin(torch::nn::Module& module) {
  value_or_throw(check_settings(settings));
  train::check_same_module(group, tensors);
  if (!nn::synchronised_layers(module).empty()) {
    throw UsageError(
        UsageError("the module has synchronised batch normalisation, which a Solver does not connect")
            .with_remedy("Take local batch normalisation."));
  }
  for (const auto* each : {&tensors.parameters, &tensors.frozen, &tensors.buffers, &tensors.counters}) {
    train::send_from_first(group, *each);
  }
  const std::vector<train::ParameterPenalty> penalties(tensors.parameters.size(),
                                                       {.l1 = settings.l1, .l2 = settings.weight_decay});
  solver = std::make_unique<train::SlicedSolver>(group, tensors.parameters, settings, penalties);
}

SolverReport Solver::Parts::step(train::ObjectiveOfRank& objective) {
  SolverReport report;
  train::or_abort(group, [&] {
    solver->notice_changes();
    report = solver->iterate(objective, settings.max_iterations);
  });
  return report;
}

Solver::Solver(Group& group, torch::nn::Module& module, const SolverSettings& settings)
    : Solver(group.communicator(), module, settings) {
  parts_->keeps = group.hold();
}

Solver::Solver(Communicator& group, torch::nn::Module& module, const SolverSettings& settings)
    : parts_(new Parts{.group = group, .settings = settings, .tensors = train::tensors_of(module)}) {
  train::or_abort(group, [&] { parts_->begin(module); });
}

Solver::~Solver() = default;

SolverReport Solver::step(const Closure& closure) {
  check_kind(parts_->settings, /*is_least_squares=*/false);
  ClosureObjective objective(closure);
  return parts_->step(objective);
}

SolverReport Solver::least_squares_step(const Residuals& residuals) {
  check_kind(parts_->settings, /*is_least_squares=*/true);
  ResidualsObjective objective(residuals, parts_->group.rank() == 0);
  return parts_->step(objective);
}

const SolverReport& Solver::report() const {
  return parts_->solver->report();
}

std::size_t Solver::size_bytes() const {
  return parts_->solver->size_bytes();
}

void Solver::visit_state(const StateVisitor& visitor) {
  parts_->solver->note_changes();
  train::visit_module(parts_->tensors, visitor);
  parts_->solver->visit(visitor);
  parts_->solver->take_parameters();
}

}  // namespace cohort
