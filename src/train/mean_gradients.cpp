#include "train/mean_gradients.h"

#include "train/arrival_order.h"

#include <ATen/ATen.h>
#include <algorithm>

namespace cohort::train {

MeanGradients::MeanGradients(Communicator& group, Arena& arena, std::vector<NamedTensor> named,
                             std::size_t bucket_bytes)
    : group_(group),
      named_(std::move(named)),
      bucket_bytes_(bucket_bytes),
      buckets_(arena, plain(named_), layout(plain(named_), expected_order(named_.size()))),
      stayed_(named_.size()),
      arrived_(named_.size(), false),
      comes_in_parts_(named_.size(), false),
      is_late_(named_.size(), false) {
  begin();
}

BucketLayout MeanGradients::layout(const std::vector<at::Tensor>& parameters,
                                   const std::vector<std::size_t>& order) const {
  const std::size_t element_bytes =
      parameters.empty() ? 4 : static_cast<std::size_t>(parameters.front().element_size());
  return layout_for(element_counts(parameters), order, group_.world(), bucket_bytes_ / element_bytes);
}

std::set<std::size_t> MeanGradients::pooled_sizes() const {
  std::set<std::size_t> sizes;
  for (std::size_t p = 0; p < arrived_.size(); ++p) {
    if (buckets_.is_large(p)) sizes.insert(buckets_.parameters()[p].nbytes());
  }
  return sizes;
}

void MeanGradients::begin() {
  std::fill(arrived_.begin(), arrived_.end(), false);
  std::fill(is_late_.begin(), is_late_.end(), false);
  pending_.clear();
  for (const Bucket& bucket : buckets_.layout().buckets) pending_.push_back(bucket.entries.size());
  next_ = 0;
}

void MeanGradients::take(std::size_t p) {
  const at::Tensor& parameter = buckets_.parameters()[p];
  const at::Tensor gradient = parameter.grad();
  if (!gradient.defined()) return;
  put(p, gradient);
  show(p);
}

void MeanGradients::put(std::size_t p, const at::Tensor& gradient) {
  const at::Tensor& home = buckets_.gradient(p);
  if (gradient.is_sparse()) {
    home.copy_(gradient.to_dense());
  } else if (gradient.data_ptr() != home.data_ptr()) {
    home.copy_(gradient);
  }
}

void MeanGradients::show(std::size_t p) {
  buckets_.parameters()[p].mutable_grad() = buckets_.gradient(p).detach();
}

bool MeanGradients::can_stay(std::size_t p, const at::Tensor& gradient) const {
  return order_is_known_ && pool_ != nullptr && buckets_.is_large(p) && pool_->lends(gradient) &&
         gradient.scalar_type() == buckets_.parameters()[p].scalar_type() &&
         gradient.strides() == buckets_.parameters()[p].strides();
}

// The parameter has no gradient from here to the end: what comes for it later does not get mixed up with what
// the other thread is at.
void MeanGradients::arrived(std::size_t p, WorkThread& thread) {
  const at::Tensor& parameter = buckets_.parameters()[p];
  const at::Tensor gradient = parameter.grad();
  if (!gradient.defined()) return;
  parameter.mutable_grad() = at::Tensor();
  if (!order_is_known_) observed_.push_back(p);
  if (arrived_[p]) return add_part(p, gradient, thread);
  arrived_[p] = true;
  if (can_stay(p, gradient)) {
    stayed_[p] = gradient;
  } else {
    put(p, gradient);
  }
  if (!order_is_known_ || waits_for_the_end_ || comes_in_parts_[p]) return;
  for (const std::size_t bucket : buckets_.buckets_of(p)) --pending_[bucket];
  for (; next_ < pending_.size() && pending_[next_] == 0; ++next_) give(next_, thread);
}

// A backward inside of backward, as of layers that are computed anew, may bring a gradient in parts. What was
// averaged without this one is averaged once more.
void MeanGradients::add_part(std::size_t p, const at::Tensor& gradient, WorkThread& thread) {
  comes_in_parts_[p] = true;
  if (buckets_.buckets_of(p).front() < next_) {
    thread.drain();
    is_late_[p] = true;
  } else if (stayed_[p].defined()) {
    put(p, std::exchange(stayed_[p], {}));
  }
  buckets_.gradient(p).add_(gradient);
}

void MeanGradients::finish(WorkThread& thread) {
  for (std::size_t p = 0; p < arrived_.size(); ++p) {
    if (arrived_[p]) continue;
    take(p);  // what an earlier backward left
    if (!buckets_.parameters()[p].grad().defined()) buckets_.gradient(p).zero_();
  }
  for (; next_ < pending_.size(); ++next_) give(next_, thread);
  thread.drain();
  agree();
  if (!order_is_known_) follow_observed_order();
  begin();
}

void MeanGradients::give(std::size_t bucket, WorkThread& thread) {
  thread.give([this, bucket] { average(bucket); });
}

void MeanGradients::average(std::size_t index) {
  const Bucket& bucket = buckets_.layout().buckets[index];
  const BucketEntry& entry = bucket.entries.front();
  const Numbers whole = buckets_.gradients(bucket);
  if (!buckets_.is_large(entry.parameter)) {
    value_or_throw(group_.run(all_reduce(whole, ReduceOp::kMean)));
    return;
  }
  // Of a large one, ranks may have it in different places.
  const Numbers home = whole.slice(0, entry.count);
  at::Tensor& stayed = stayed_[entry.parameter];
  ConstNumbers from = home;
  if (stayed.defined()) {
    from = ConstNumbers(stayed.const_data_ptr(), static_cast<std::size_t>(stayed.numel()), buckets_.dtype())
               .slice(entry.from, entry.count);
  }
  value_or_throw(group_.run(all_reduce(from, home, ReduceOp::kMean)));
  if (buckets_.buckets_of(entry.parameter).back() == index) stayed = at::Tensor();
}

// A parameter that any rank used has a gradient on all, one that nobody used has none.
void MeanGradients::agree() {
  enum : std::uint8_t { kUnused, kUsed, kLate };
  std::vector<std::uint8_t> states;
  for (std::size_t p = 0; p < arrived_.size(); ++p) {
    const bool is_used = arrived_[p] || buckets_.parameters()[p].grad().defined();
    states.push_back(is_late_[p] ? kLate : is_used ? kUsed : kUnused);
  }
  value_or_throw(group_.run(all_reduce(std::span(states), ReduceOp::kMax)));
  std::set<std::size_t> again;
  for (std::size_t p = 0; p < states.size(); ++p) {
    if (states[p] != kUnused) show(p);
    if (states[p] == kLate) again.insert(buckets_.buckets_of(p).begin(), buckets_.buckets_of(p).end());
  }
  for (const std::size_t bucket : again) average(bucket);
}

void MeanGradients::follow_observed_order() {
  order_is_known_ = true;
  const auto order = agreed_order(group_, std::exchange(observed_, {}), arrived_.size());
  if (order == expected_order(order.size())) return;
  buckets_.move_to(layout(buckets_.parameters(), order));
  for (std::size_t p = 0; p < arrived_.size(); ++p) {
    if (buckets_.parameters()[p].grad().defined()) show(p);
  }
}

}  // namespace cohort::train
