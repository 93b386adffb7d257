#include "solve/lbfgs.h"

#include "base/check.h"
#include "solve/wolfe_search.h"

#include <array>
#include <cmath>

namespace cohort::solve {
Lbfgs::Lbfgs(const SolverSettings& settings, std::vector<Penalty> penalties, Ranks& ranks, ConstNumbers start)
    : settings_(settings),
      penalties_(std::move(penalties)),
      has_l1_(settings.kind == SolverKind::kOwlqn && settings.l1 > 0),
      ranks_(ranks),
      history_(settings.history_size, start.count, start.dtype),
      point_(start.count, start.dtype),
      gradient_(point_),
      pseudo_(has_l1_ ? start.count : 0, start.dtype),
      direction_(point_),
      trial_(point_),
      trial_gradient_(point_) {
  set_point(start);
}

Lbfgs::Ask Lbfgs::begin() {
  report_.end.reset();
  if (has_started_ == 0) return Ask::kEvaluate;
  if (report_.largest_gradient <= settings_.tolerance_grad) return finish(SolverEnd::kGradient);
  return choose_direction();
}

Result<Lbfgs::Ask> Lbfgs::tell(double value, ConstNumbers gradient) {
  ++report_.evaluations;
  copy(gradient, trial_gradient_);
  penalties_.add_gradient(trial_, trial_gradient_);
  return has_started_ == 0 ? start(value) : search(value);
}

Result<Lbfgs::Ask> Lbfgs::tell_product(ConstNumbers /*product*/) {
  COHORT_CHECK(false, "L-BFGS has no matrix");
}

Result<Lbfgs::Ask> Lbfgs::start(double value) {
  std::array<ExactSum, 1> penalty{};
  penalties_.add_value(trial_, penalty[0]);
  COHORT_RETURN_IF_ERROR(ranks_.combine(penalty, {}));
  std::swap(gradient_, trial_gradient_);
  find_downhill();
  std::array<double, 1> most{largest(downhill())};
  COHORT_RETURN_IF_ERROR(history_.begin(downhill(), ranks_, most));
  report_.loss = value + penalty[0].value();
  report_.largest_gradient = most[0];
  if (!std::isfinite(report_.loss) || !std::isfinite(most[0])) return finish(SolverEnd::kNotFinite);
  has_started_ = 1;
  if (most[0] <= settings_.tolerance_grad) return finish(SolverEnd::kGradient);
  return choose_direction();
}

Lbfgs::Ask Lbfgs::choose_direction() {
  Combination direction = history_.direction();
  if (!(direction.slope < 0) || !std::isfinite(direction.slope)) {
    history_.forget();
    direction = history_.direction();
  }
  if (!(direction.slope < 0)) return finish(SolverEnd::kGradient);
  if (!std::isfinite(direction.slope)) return finish(SolverEnd::kNotFinite);
  history_.add_up(direction, downhill(), direction_);
  if (has_l1_) penalties_.project_direction(pseudo_, direction_);
  search_ = make_search(direction.slope);
  return try_step();
}

// Without a history the length of the gradient says nothing about that of a good step.
std::unique_ptr<StepSearch> Lbfgs::make_search(double slope) const {
  const double shorter = history_.num_pairs() == 0 ? std::min(1.0, 1 / std::sqrt(-slope)) : 1.0;
  if (settings_.line_search == LineSearch::kNone) {
    return std::make_unique<FixedStep>(shorter * settings_.learning_rate);
  }
  const SearchLimits limits{.evaluations = settings_.max_evaluations,
                            .noise = rounding_of_losses(ConstNumbers(point_).dtype)};
  if (has_l1_) return std::make_unique<Backtracking>(report_.loss, shorter, limits);
  return std::make_unique<WolfeSearch>(Trial{.step = 0, .value = report_.loss, .slope = slope}, shorter,
                                       limits);
}

Lbfgs::Ask Lbfgs::try_step() {
  const std::array<Term, 2> terms{Term{1, point_}, Term{search_->step(), direction_}};
  combine(terms, trial_);
  if (has_l1_) penalties_.project_point(point_, pseudo_, trial_);
  const std::array<Term, 2> way{Term{1, trial_}, Term{-1, point_}};
  combine(way, history_.next_step());
  ++moves_;
  return Ask::kEvaluate;
}

Result<Lbfgs::Ask> Lbfgs::search(double value) {
  std::array<ExactSum, 2> sums{};
  const std::array<Pair, 1> slope{has_l1_ ? Pair{pseudo_, history_.next_step()}
                                          : Pair{trial_gradient_, direction_}};
  add_products(slope, std::span(sums).first<1>());
  penalties_.add_value(trial_, sums[1]);
  COHORT_RETURN_IF_ERROR(ranks_.combine(sums, {}));
  const double loss = value + sums[1].value();
  search_->tell(loss, sums[0].value());
  switch (search_->state()) {
    case StepSearch::State::kTry:
      return try_step();
    case StepSearch::State::kAccepted:
      return accept(loss);
    case StepSearch::State::kFailed:
      return retry_or_end();
    case StepSearch::State::kUnbounded:
      break;
  }
  return finish(SolverEnd::kUnbounded);
}

// Curvature that no longer fits the function may have led astray: steepest descent has the last word.
Lbfgs::Ask Lbfgs::retry_or_end() {
  if (settings_.line_search == LineSearch::kNone) return finish(SolverEnd::kNotFinite);
  if (history_.num_pairs() == 0) return finish(SolverEnd::kNoProgress);
  history_.forget();
  return choose_direction();
}

Result<Lbfgs::Ask> Lbfgs::accept(double loss) {
  const std::array<Term, 2> change{Term{1, trial_gradient_}, Term{-1, gradient_}};
  combine(change, history_.next_change());
  std::array<double, 2> most{0, largest(history_.next_step())};
  copy(trial_, point_);
  std::swap(gradient_, trial_gradient_);
  find_downhill();
  most[0] = largest(downhill());
  COHORT_RETURN_IF_ERROR(history_.add(downhill(), ranks_, most));
  const double fall = std::abs(report_.loss - loss);
  const double scale = std::max(std::abs(report_.loss), std::abs(loss));
  ++report_.iterations;
  report_.step_length = search_->step();
  report_.loss = loss;
  report_.largest_gradient = most[0];
  search_.reset();
  if (most[0] <= settings_.tolerance_grad) return finish(SolverEnd::kGradient);
  const double tolerance = settings_.tolerance_change;
  if (fall < tolerance * scale || most[1] < tolerance) return finish(SolverEnd::kChange);
  return Ask::kNothing;
}

// A search that is not over leaves the last trial.
Lbfgs::Ask Lbfgs::finish(SolverEnd end) {
  copy(point_, trial_);
  if (search_ != nullptr) ++moves_;
  search_.reset();
  report_.end = end;
  return Ask::kNothing;
}

void Lbfgs::find_downhill() {
  if (has_l1_) penalties_.pseudo_gradient(point_, gradient_, pseudo_);
}

void Lbfgs::visit_vectors(const std::function<void(const std::string&, Numbers)>& visitor) {
  visitor("gradient", gradient_);
  history_.visit_vectors(visitor);
}

void Lbfgs::visit_numbers(const std::function<void(const std::string&, Numbers)>& visitor) {
  visitor("has_started", std::span(&has_started_, 1));
  visitor("iterations", std::span(&report_.iterations, 1));
  visitor("evaluations", std::span(&report_.evaluations, 1));
  visitor("loss", std::span(&report_.loss, 1));
  visitor("largest_gradient", std::span(&report_.largest_gradient, 1));
  visitor("step_length", std::span(&report_.step_length, 1));
  history_.visit_numbers(visitor);
}

void Lbfgs::set_point(ConstNumbers point) {
  copy(point, point_);
  copy(point, trial_);
  if (has_started_ != 0) find_downhill();
  ++moves_;
}

void Lbfgs::begin_anew(ConstNumbers point) {
  has_started_ = 0;
  history_.forget();
  set_point(point);
}

std::size_t Lbfgs::size_bytes() const {
  return history_.size_bytes() + 5 * point_.size_bytes() + pseudo_.size_bytes();
}

}  // namespace cohort::solve
