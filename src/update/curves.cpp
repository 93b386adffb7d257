#include "update/curves.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace cohort::learning_rate {
namespace {

double as_real(std::int64_t number) {
  return static_cast<double>(number);
}

// From 1 at x = 0 down to 0 at x = 1. Near the end the square loses no digits, which 1 + cos(πx) would.
double half_cosine(double x) {
  const double root = std::cos(std::numbers::pi * x / 2);
  return root * root;
}

double between(double from, double to, double part_of_from) {
  return to + (from - to) * part_of_from;
}

double along_cosine(double from, double to, std::int64_t t, std::int64_t length) {
  if (t >= length) return to;
  return between(from, to, half_cosine(as_real(t) / as_real(length)));
}

double rate(const Constant&, const CurvePoint& at) {
  return at.rate;
}

double rate(const Step& step, const CurvePoint& at) {
  return at.rate * std::pow(step.gamma, as_real(at.t / step.step_size));
}

double rate(const MultiStep& step, const CurvePoint& at) {
  const auto passed = std::upper_bound(step.milestones.begin(), step.milestones.end(), at.t);
  return at.rate * std::pow(step.gamma, as_real(passed - step.milestones.begin()));
}

double rate(const Exponential& exponential, const CurvePoint& at) {
  return at.rate * std::pow(exponential.gamma, as_real(at.t) / as_real(exponential.step_size));
}

double rate(const InverseSquareRoot& root, const CurvePoint& at) {
  return at.rate * std::sqrt(as_real(root.timescale) / (as_real(at.t) + as_real(root.timescale)));
}

double rate(const Polynomial& polynomial, const CurvePoint& at) {
  const std::int64_t left = std::max<std::int64_t>(polynomial.total_steps - at.t, 0);
  const double part = as_real(left) / as_real(polynomial.total_steps);
  return between(at.rate, polynomial.eta_min, std::pow(part, polynomial.power));
}

double rate(const Cosine& cosine, const CurvePoint& at) {
  return along_cosine(at.rate, cosine.eta_min, at.t, cosine.t_max);
}

// In doubles, which hold all numbers of steps and do not overflow as the cycles grow.
double rate(const CosineRestarts& restarts, const CurvePoint& at) {
  double length = as_real(restarts.t_0), t = as_real(at.t);
  if (restarts.t_mult == 1) t = std::fmod(t, length);
  while (t >= length) {
    t -= length;
    length *= as_real(restarts.t_mult);
  }
  return between(at.rate, restarts.eta_min, half_cosine(t / length));
}

// The phase of a cycle in which a step lies, and the part of the phase that is over.
struct PlaceInCycle {
  std::size_t phase;
  double part;
};

PlaceInCycle place_in(const OneCycle& cycle, std::int64_t t) {
  const double steps = as_real(cycle.total_steps), now = std::min(as_real(t), steps - 1);
  const double up = cycle.pct_start * steps - 1, down = 2 * cycle.pct_start * steps - 2;
  const std::array ends = {up, cycle.three_phase ? down : steps - 1, steps - 1};
  const std::size_t last = cycle.three_phase ? 2 : 1;
  std::size_t phase = 0;
  double begin = 0;
  while (phase < last && now > ends[phase]) begin = ends[phase++];
  const double length = ends[phase] - begin;
  return {phase, length > 0 ? (now - begin) / length : 1};
}

double annealed(const OneCycle& cycle, double from, double to, double part) {
  return between(from, to, cycle.anneal_strategy == OneCycle::Anneal::kCosine ? half_cosine(part) : 1 - part);
}

double rate(const OneCycle& cycle, const CurvePoint& at) {
  const double first = at.rate / cycle.div_factor, last = first / cycle.final_div_factor;
  const std::array corners = {first, at.rate, cycle.three_phase ? first : last, last};
  const PlaceInCycle place = place_in(cycle, at.t);
  return annealed(cycle, corners[place.phase], corners[place.phase + 1], place.part);
}

double rate(const StableDecay& decay, const CurvePoint& at) {
  const std::int64_t begin = decay.total_steps - decay.decay_steps;
  if (at.t <= begin) return at.rate;
  if (at.t >= decay.total_steps) return decay.eta_min;
  const double x = as_real(at.t - begin) / as_real(decay.decay_steps);
  switch (decay.decay) {
    case StableDecay::Shape::kLinear:
      return between(at.rate, decay.eta_min, 1 - x);
    case StableDecay::Shape::kCosine:
      return between(at.rate, decay.eta_min, half_cosine(x));
    case StableDecay::Shape::kSquareRoot:
      return between(at.rate, decay.eta_min, 1 - std::sqrt(x));
  }
  return at.rate;
}

double rate(const Plateau& plateau, const CurvePoint& at) {
  return rate_of_plateau(plateau, at);
}

}  // namespace

double rate_of(const Curve& curve, const CurvePoint& at) {
  return std::visit([&](const auto& each) { return rate(each, at); }, curve);
}

double momentum_of(const OneCycle& cycle, std::int64_t t) {
  const std::array corners = {cycle.max_momentum, cycle.base_momentum, cycle.max_momentum,
                              cycle.max_momentum};
  const PlaceInCycle place = place_in(cycle, t);
  return annealed(cycle, corners[place.phase], corners[place.phase + 1], place.part);
}

}  // namespace cohort::learning_rate
