#include "train/gradient_intake.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace cohort::train {
namespace {

// Each parameter once, where it arrived last.
std::vector<std::int64_t> last_arrivals(const std::vector<std::size_t>& arrivals,
                                        std::size_t num_parameters) {
  std::vector<std::int64_t> order;
  std::vector<bool> seen(num_parameters, false);
  for (auto p = arrivals.rbegin(); p != arrivals.rend(); ++p) {
    if (!seen[*p]) order.push_back(static_cast<std::int64_t>(*p));
    seen[*p] = true;
  }
  std::reverse(order.begin(), order.end());
  for (std::size_t p = 0; p < num_parameters; ++p) {
    if (!seen[p]) order.push_back(static_cast<std::int64_t>(p));
  }
  return order;
}

}  // namespace

std::vector<std::size_t> expected_order(std::size_t num_parameters) {
  std::vector<std::size_t> order(num_parameters);
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  return order;
}

GradientIntake::GradientIntake(const BucketSet& buckets, GradientSink& sink, ReportFull report)
    : buckets_(buckets),
      sink_(sink),
      report_(report),
      comes_in_parts_(buckets.parameters().size(), false),
      hooks_(buckets.parameters(), [this](std::size_t p) { arrived(p); }) {
  begin_round();
}

void GradientIntake::begin_round() {
  in_round_.assign(buckets_.parameters().size(), false);
  pending_.clear();
  for (const Bucket& bucket : buckets_.layout().buckets) pending_.push_back(bucket.entries.size());
  num_full_ = 0;
  begin_backward();
}

void GradientIntake::begin_backward() {
  in_backward_.assign(buckets_.parameters().size(), false);
  is_last_ = false;
}

void GradientIntake::expect_last() {
  is_last_ = true;
}

void GradientIntake::end_round() {
  while (num_full_ < pending_.size()) sink_.full(num_full_++);
}

// The gradient is taken off its parameter: a second one of the same round is not added to memory that another
// thread may be reducing.
void GradientIntake::arrived(std::size_t p) {
  const at::NoGradGuard no_grad;  // backward(create_graph) runs hooks with gradients enabled
  if (!sink_.accepts(p)) return;
  const at::Tensor& parameter = buckets_.parameters()[p];
  at::Tensor gradient = parameter.grad();
  if (!gradient.defined()) return;
  parameter.mutable_grad() = at::Tensor();
  if (gradient.is_sparse()) gradient = gradient.to_dense();
  if (!order_is_known_) observed_.push_back(p);
  const Arrival arrival = kind_of(p);
  if (in_backward_[p]) comes_in_parts_[p] = true;
  in_round_[p] = in_backward_[p] = true;
  sink_.store(p, std::move(gradient), arrival);
  const bool is_new = arrival == Arrival::kFirst || arrival == Arrival::kNextBackward;
  if (is_new && is_last_ && !comes_in_parts_[p]) count(p);
}

Arrival GradientIntake::kind_of(std::size_t p) const {
  if (!in_round_[p]) return Arrival::kFirst;
  if (!in_backward_[p]) return Arrival::kNextBackward;
  return buckets_.buckets_of(p).front() < num_full_ ? Arrival::kLatePart : Arrival::kNextPart;
}

void GradientIntake::count(std::size_t p) {
  if (!order_is_known_ || report_ == ReportFull::kAtEnd) return;
  for (const std::size_t bucket : buckets_.buckets_of(p)) --pending_[bucket];
  while (num_full_ < pending_.size() && pending_[num_full_] == 0) sink_.full(num_full_++);
}

std::optional<std::vector<std::size_t>> GradientIntake::learn_order(Communicator& group) {
  order_is_known_ = true;
  const std::vector<std::size_t> observed = std::exchange(observed_, {});
  if (keeps_order_) return std::nullopt;
  std::vector<std::int64_t> arrivals = last_arrivals(observed, buckets_.parameters().size());
  value_or_throw(group.run(broadcast(std::span(arrivals), 0)));
  const std::vector<std::size_t> order(arrivals.begin(), arrivals.end());
  if (order == expected_order(order.size())) return std::nullopt;
  return order;
}

}  // namespace cohort::train
