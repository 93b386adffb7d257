#include "solve/gauss_newton.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace cohort::solve {
namespace {

constexpr double kSufficientRatio = 1e-4;  // of the fall of the loss to that of the model
constexpr double kLeastDamping = 1e-300;

}  // namespace

GaussNewton::GaussNewton(const SolverSettings& settings, std::vector<Penalty> penalties, Ranks& ranks,
                         ConstNumbers start)
    : settings_(settings),
      penalties_(std::move(penalties)),
      ranks_(ranks),
      cg_(start.count, start.dtype),
      point_(start.count, start.dtype),
      gradient_(point_),
      trial_(point_),
      trial_gradient_(point_),
      product_(point_),
      residual_(settings.cg_tolerance) {
  COHORT_CHECK(!penalties_.has_l1());
  set_point(start);
}

GaussNewton::Ask GaussNewton::begin() {
  report_.end.reset();
  num_refused_ = 0;
  if (has_started_ == 0) return Ask::kEvaluate;
  if (report_.largest_gradient <= settings_.tolerance_grad) return finish(SolverEnd::kGradient);
  choose_residual();
  return solve_equations();
}

Result<GaussNewton::Ask> GaussNewton::tell(double value, ConstNumbers gradient) {
  ++report_.evaluations;
  copy(gradient, trial_gradient_);
  penalties_.add_gradient(point(), trial_gradient_);
  return has_started_ == 0 ? start(value) : judge(value);
}

Result<GaussNewton::Ask> GaussNewton::start(double value) {
  std::array<ExactSum, 2> sums{};
  penalties_.add_value(point_, sums[0]);
  std::swap(gradient_, trial_gradient_);
  add_products(std::array{Pair{gradient_, gradient_}}, std::span(sums).last<1>());
  std::array<double, 1> most{largest(gradient_)};
  COHORT_RETURN_IF_ERROR(ranks_.combine(sums, most));
  report_.loss = value + sums[0].value();
  report_.largest_gradient = most[0];
  square_ = sums[1].value();
  if (!std::isfinite(report_.loss) || !std::isfinite(most[0])) return finish(SolverEnd::kNotFinite);
  has_started_ = 1;
  if (most[0] <= settings_.tolerance_grad) return finish(SolverEnd::kGradient);
  choose_residual();
  return solve_equations();
}

// Close to the minimum the gradient falls fast, and precise steps pay. A sudden fall must not ask for more
// than the model is worth: the tolerance falls slowly from a large one.
void GaussNewton::choose_residual() {
  if (square_before_ > 0) {
    const double slow = 0.9 * residual_ * residual_;
    residual_ = std::max(0.9 * square_ / square_before_, slow > 0.1 ? slow : 0.0);
  }
  residual_ = std::min(residual_, settings_.cg_tolerance);
}

GaussNewton::Ask GaussNewton::solve_equations() {
  go_to(false);
  const Damping damping =
      damping_ < 0 ? Damping{.of_curvature = settings_.damping} : Damping{.amount = damping_};
  cg_.begin(gradient_, square_, damping, {.residual = residual_, .products = settings_.max_products});
  return cg_.is_done() ? finish(SolverEnd::kGradient) : Ask::kMultiply;
}

Result<GaussNewton::Ask> GaussNewton::tell_product(ConstNumbers product) {
  ++report_.products;
  copy(product, product_);
  penalties_.add_gradient(cg_.direction(), product_);  // l2 is a matrix, too
  COHORT_RETURN_IF_ERROR(cg_.tell(product_, ranks_));
  if (!cg_.is_finite()) return finish(SolverEnd::kNotFinite);
  damping_ = std::max(cg_.damping(), kLeastDamping);
  return cg_.is_done() ? try_step() : Ask::kMultiply;
}

GaussNewton::Ask GaussNewton::try_step() {
  combine(std::array{Term{1, point_}, Term{1, cg_.solution()}}, trial_);
  go_to(true);
  return Ask::kEvaluate;
}

// The model promises −(p·g + ½ p·Ap). With the residual r of (A + d) p = −g that is −½ p·g + ½ p·r + ½ d p·p.
Result<GaussNewton::Ask> GaussNewton::judge(double value) {
  std::array<ExactSum, 4> sums{};
  penalties_.add_value(trial_, sums[0]);
  add_products(std::array{Pair{cg_.solution(), gradient_}, Pair{cg_.solution(), cg_.residual()},
                          Pair{cg_.solution(), cg_.solution()}},
               std::span(sums).last<3>());
  COHORT_RETURN_IF_ERROR(ranks_.combine(sums, {}));
  const double loss = value + sums[0].value();
  const double promised = (sums[2].value() - sums[1].value() + damping_ * sums[3].value()) / 2;
  const double noise = rounding_of_losses(ConstNumbers(point_).dtype) * std::abs(report_.loss);
  const double fall = report_.loss - loss;
  if (!std::isfinite(loss) || !(promised > 0)) return refuse();
  // A loss that cannot fall by more than its rounding error, and not because refused steps made this one
  // short.
  if (num_refused_ == 0 && promised <= noise && std::abs(fall) <= noise) return accept(loss, 1);
  const double ratio = fall / promised;
  return ratio > kSufficientRatio ? accept(loss, ratio) : refuse();
}

Result<GaussNewton::Ask> GaussNewton::accept(double loss, double ratio) {
  std::array<double, 2> most{largest(trial_gradient_), largest(cg_.solution())};
  std::array<ExactSum, 1> square{};
  add_products(std::array{Pair{trial_gradient_, trial_gradient_}}, square);
  COHORT_RETURN_IF_ERROR(ranks_.combine(square, most));
  if (!std::isfinite(most[0])) return refuse();
  copy(trial_, point_);
  is_at_trial_ = false;  // the same place
  std::swap(gradient_, trial_gradient_);
  square_before_ = square_;
  square_ = square[0].value();
  damping_ *= std::max(1.0 / 3, 1 - std::pow(2 * ratio - 1, 3));
  damping_ = std::max(damping_, kLeastDamping);
  rise_ = 2;
  const double fall = std::abs(report_.loss - loss);
  const double scale = std::max(std::abs(report_.loss), std::abs(loss));
  ++report_.iterations;
  report_.step_length = 1;
  report_.loss = loss;
  report_.largest_gradient = most[0];
  if (most[0] <= settings_.tolerance_grad) return finish(SolverEnd::kGradient);
  const double tolerance = settings_.tolerance_change;
  if (fall < tolerance * scale || most[1] < tolerance) return finish(SolverEnd::kChange);
  return Ask::kNothing;
}

GaussNewton::Ask GaussNewton::refuse() {
  damping_ *= rise_;
  rise_ *= 2;
  if (++num_refused_ >= settings_.max_evaluations) return finish(SolverEnd::kNoProgress);
  return solve_equations();
}

GaussNewton::Ask GaussNewton::finish(SolverEnd end) {
  go_to(false);
  report_.end = end;
  return Ask::kNothing;
}

void GaussNewton::go_to(bool trial) {
  if (is_at_trial_ != trial) ++moves_;
  is_at_trial_ = trial;
}

void GaussNewton::visit_vectors(const std::function<void(const std::string&, Numbers)>& visitor) {
  visitor("gradient", gradient_);
}

void GaussNewton::visit_numbers(const std::function<void(const std::string&, Numbers)>& visitor) {
  visitor("has_started", std::span(&has_started_, 1));
  visitor("iterations", std::span(&report_.iterations, 1));
  visitor("evaluations", std::span(&report_.evaluations, 1));
  visitor("products", std::span(&report_.products, 1));
  visitor("loss", std::span(&report_.loss, 1));
  visitor("largest_gradient", std::span(&report_.largest_gradient, 1));
  visitor("step_length", std::span(&report_.step_length, 1));
  visitor("damping", std::span(&damping_, 1));
  visitor("rise_of_damping", std::span(&rise_, 1));
  visitor("square_of_gradient", std::span(&square_, 1));
  visitor("square_of_gradient_before", std::span(&square_before_, 1));
  visitor("residual", std::span(&residual_, 1));
}

void GaussNewton::set_point(ConstNumbers point) {
  copy(point, point_);
  is_at_trial_ = false;
  ++moves_;
}

void GaussNewton::begin_anew(ConstNumbers point) {
  has_started_ = 0;
  damping_ = -1;
  rise_ = 2;
  square_before_ = 0;
  residual_ = settings_.cg_tolerance;
  set_point(point);
}

std::size_t GaussNewton::size_bytes() const {
  return cg_.size_bytes() + 5 * point_.size_bytes();
}

}  // namespace cohort::solve
