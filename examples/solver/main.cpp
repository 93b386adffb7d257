// Second-order solvers in a loop of your own: logistic regression by L-BFGS, and a curve fitted by
// Gauss-Newton.
#include <ATen/ATen.h>
#include <cohort/context.h>
#include <cohort/error.h>
#include <cohort/solver.h>
#include <iostream>
#include <torch/nn/modules/linear.h>
#include <torch/utils.h>

namespace {

// Each rank has its own samples, and another number of them.
struct Samples {
  at::Tensor input;
  at::Tensor target;
};

Samples samples_of(const cohort::Context& context) {
  torch::manual_seed(static_cast<std::uint64_t>(context.rank()));
  const at::Tensor input = at::randn({500 + 100 * context.rank(), 3}, at::kDouble);
  const at::Tensor odds = at::mv(input, at::tensor({2.0, -1.0, 0.5}, at::kDouble)) + 0.25;
  return {input, at::rand(odds.sizes(), at::kDouble).lt(odds.sigmoid()).to(at::kDouble)};
}

bool classify(cohort::Context& context) {
  const Samples mine = samples_of(context);
  torch::nn::Linear model(3, 1);
  model->to(torch::kDouble);
  cohort::Solver solver(context, *model, {.kind = cohort::SolverKind::kLbfgs, .max_iterations = 100});
  const cohort::SolverReport report = solver.step([&] {
    const at::Tensor scores = model->forward(mine.input).flatten();
    const at::Tensor loss =
        at::binary_cross_entropy_with_logits(scores, mine.target, {}, {}, at::Reduction::Sum);
    loss.backward();
    return cohort::Evaluation{.loss = loss, .weight = static_cast<double>(mine.input.size(0))};
  });
  if (context.rank() == 0) {
    std::cout << "L-BFGS ended after " << report.iterations << " iterations because "
              << cohort::reason(*report.end) << ", with a loss of " << report.loss << "\n";
  }
  return report.end == cohort::SolverEnd::kGradient && report.loss < 0.5;
}

// y = a exp(b x), with a and b as the weights of a module.
struct Curve : torch::nn::Module {
  at::Tensor a = register_parameter("a", at::ones({1}, at::kDouble));
  at::Tensor b = register_parameter("b", at::zeros({1}, at::kDouble));
};

bool fit_curve(cohort::Context& context) {
  const at::Tensor x = at::linspace(context.rank(), context.rank() + 1, 20, at::kDouble);
  const at::Tensor y = 2 * at::exp(-0.7 * x);
  Curve curve;
  cohort::Solver solver(context, curve, {.kind = cohort::SolverKind::kGaussNewton, .max_iterations = 50});
  const cohort::SolverReport report =
      solver.least_squares_step([&] { return curve.a * at::exp(curve.b * x) - y; });
  if (context.rank() == 0) {
    std::cout << "Gauss-Newton found y = " << curve.a.item<double>() << " exp(" << curve.b.item<double>()
              << " x) after " << report.iterations << " iterations\n";
  }
  return std::abs(curve.a.item<double>() - 2) < 1e-5 && std::abs(curve.b.item<double>() + 0.7) < 1e-5;
}

}  // namespace

int main() try {
  cohort::Context context;
  const bool classifies = classify(context);
  return fit_curve(context) && classifies ? 0 : 1;
} catch (const cohort::Error& error) {
  std::cerr << error.text() << "\n";
  return 1;
}
