#include "solve/history.h"

#include "base/check.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace cohort::solve {
namespace {

// Below this cosine between step and change, their inner product may be a rounding error.
constexpr double kLeastCosine = 1e-10;

/// Inner products that go to all ranks in one message, and the places that get them.
class Message {
 public:
  void add(ConstNumbers a, ConstNumbers b, double& to) {
    pairs_.push_back({a, b});
    places_.push_back(&to);
  }
  Status send(Ranks& ranks, std::span<double> maxima) {
    std::vector<ExactSum> sums(pairs_.size());
    add_products(pairs_, sums);
    COHORT_RETURN_IF_ERROR(ranks.combine(sums, maxima));
    for (std::size_t i = 0; i < sums.size(); ++i) *places_[i] = sums[i].value();
    return {};
  }

 private:
  std::vector<Pair> pairs_;
  std::vector<double*> places_;
};

}  // namespace

History::History(int size, std::size_t count, DType dtype) {
  COHORT_CHECK_GE(size, 1);
  const auto num_slots = static_cast<std::size_t>(size);
  steps_.assign(num_slots, Vector(count, dtype));
  changes_.assign(num_slots, Vector(count, dtype));
  sy_.resize(num_slots * num_slots);
  yy_.resize(num_slots * num_slots);
  sg_.resize(num_slots);
  yg_.resize(num_slots);
}

std::size_t History::slot(std::size_t pair) const {
  return (head() + steps_.size() - num_pairs() + pair) % steps_.size();
}

Status History::begin(ConstNumbers gradient, Ranks& ranks, std::span<double> maxima) {
  num_pairs_ = 0;
  Message message;
  message.add(gradient, gradient, gg_);
  return message.send(ranks, maxima);
}

Status History::add(ConstNumbers gradient, Ranks& ranks, std::span<double> maxima) {
  num_pairs_ = std::min<std::int64_t>(num_pairs_, static_cast<std::int64_t>(steps_.size()) - 1);
  const std::size_t newest = head();
  double ss = 0;
  Message message;
  message.add(steps_[newest], steps_[newest], ss);
  for (std::size_t i = 0; i <= num_pairs(); ++i) {
    const std::size_t each = i == num_pairs() ? newest : slot(i);
    message.add(steps_[each], changes_[newest], sy(each, newest));
    message.add(changes_[each], changes_[newest], yy(each, newest));
    message.add(steps_[each], gradient, sg_[each]);
    message.add(changes_[each], gradient, yg_[each]);
  }
  message.add(gradient, gradient, gg_);
  COHORT_RETURN_IF_ERROR(message.send(ranks, maxima));
  const double curvature = sy(newest, newest);
  const bool is_kept = curvature > kLeastCosine * std::sqrt(ss) * std::sqrt(yy(newest, newest)) &&
                       std::isfinite(yy(newest, newest)) && std::isfinite(ss);
  if (!is_kept) return {};
  head_ = static_cast<std::int64_t>((newest + 1) % steps_.size());
  ++num_pairs_;
  return {};
}

InnerProducts History::products() const {
  InnerProducts all(num_pairs());
  const auto at = [&](const std::vector<double>& by_slots, std::size_t i, std::size_t j) {
    return by_slots[slot(i) * steps_.size() + slot(j)];
  };
  for (std::size_t j = 0; j < num_pairs(); ++j) {
    for (std::size_t i = 0; i <= j; ++i) {
      all.sy[i][j] = at(sy_, i, j);
      all.yy[i][j] = at(yy_, i, j);
    }
    all.sg[j] = sg_[slot(j)];
    all.yg[j] = yg_[slot(j)];
  }
  all.gg = gg_;
  return all;
}

void History::add_up(const Combination& direction, ConstNumbers gradient, Numbers to) const {
  std::vector<Term> terms{{direction.gradient, gradient}};
  for (std::size_t i = 0; i < direction.steps.size(); ++i) {
    terms.push_back({direction.steps[i], steps_[slot(i)]});
    terms.push_back({direction.changes[i], changes_[slot(i)]});
  }
  combine(terms, to);
}

void History::visit_vectors(const std::function<void(const std::string&, Numbers)>& visitor) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    visitor(fmt::format("step_{}", i), steps_[i]);
    visitor(fmt::format("change_{}", i), changes_[i]);
  }
}

void History::visit_numbers(const std::function<void(const std::string&, Numbers)>& visitor) {
  visitor("next_pair", std::span(&head_, 1));
  visitor("num_pairs", std::span(&num_pairs_, 1));
  visitor("step_times_change", sy_);
  visitor("change_times_change", yy_);
  visitor("step_times_gradient", sg_);
  visitor("change_times_gradient", yg_);
  visitor("gradient_times_gradient", std::span(&gg_, 1));
}

std::size_t History::size_bytes() const {
  return steps_.size() * (steps_.front().size_bytes() + changes_.front().size_bytes());
}

}  // namespace cohort::solve
