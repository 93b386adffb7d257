#include "train/mean_gradients.h"

#include <ATen/ATen.h>
#include <utility>

namespace cohort::train {

MeanGradients::MeanGradients(const Company& groups, Arena& arena, std::vector<NamedTensor> named,
                             std::size_t bucket_bytes, AveragingRound round, ReportFull report)
    : groups_(groups),
      named_(std::move(named)),
      bucket_bytes_(bucket_bytes),
      round_(std::move(round)),
      order_(expected_order(named_.size())),
      buckets_(arena, plain(named_), layout(plain(named_), order_)),
      stayed_(named_.size()),
      intake_(buckets_, *this, report) {
  begin();
}

BucketLayout MeanGradients::layout(const std::vector<at::Tensor>& parameters,
                                   const std::vector<std::size_t>& order) const {
  const std::size_t element_bytes =
      parameters.empty() ? 4 : static_cast<std::size_t>(parameters.front().element_size());
  return layout_for(element_counts(parameters), order, groups_.size(), bucket_bytes_ / element_bytes);
}

std::set<std::size_t> MeanGradients::pooled_sizes() const {
  std::set<std::size_t> sizes;
  for (std::size_t p = 0; p < named_.size(); ++p) {
    if (buckets_.is_large(p)) sizes.insert(buckets_.parameters()[p].nbytes());
  }
  return sizes;
}

void MeanGradients::begin() {
  is_late_.assign(named_.size(), false);
  intake_.begin_round();
  intake_.expect_last();
}

// While gradients are accumulated, torch adds them up in the bucket.
bool MeanGradients::accepts(std::size_t p) {
  if (round_.join()) return true;
  move_to_bucket(p);
  return false;
}

void MeanGradients::move_to_bucket(std::size_t p) {
  const at::Tensor gradient = buckets_.parameters()[p].grad();
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
  return order_is_known() && pool_ != nullptr && buckets_.is_large(p) && pool_->lends(gradient) &&
         gradient.scalar_type() == buckets_.parameters()[p].scalar_type() &&
         gradient.strides() == buckets_.parameters()[p].strides();
}

// A bucket that was averaged without this part is averaged once more, at the end of the round.
void MeanGradients::store(std::size_t p, at::Tensor gradient, Arrival arrival) {
  if (arrival == Arrival::kFirst) {
    if (!can_stay(p, gradient)) return put(p, gradient);
    stayed_[p] = std::move(gradient);
    return;
  }
  if (arrival == Arrival::kLatePart) {
    round_.thread.drain();
    is_late_[p] = true;
  } else if (stayed_[p].defined()) {
    put(p, std::exchange(stayed_[p], {}));
  }
  buckets_.gradient(p).add_(gradient);
}

void MeanGradients::full(std::size_t bucket) {
  round_.thread.give([this, bucket] { average(bucket); });
}

void MeanGradients::finish() {
  for (std::size_t p = 0; p < named_.size(); ++p) {
    if (intake_.has_arrived(p)) continue;
    move_to_bucket(p);  // left by backwards that only accumulated
    if (!buckets_.parameters()[p].grad().defined()) buckets_.gradient(p).zero_();
  }
  intake_.end_round();
  round_.thread.drain();
  agree();
  if (!order_is_known()) follow_observed_order();
  begin();
}

void MeanGradients::average(std::size_t index) {
  const Bucket& bucket = buckets_.layout().buckets[index];
  const BucketEntry& entry = bucket.entries.front();
  const Numbers whole = buckets_.gradients(bucket);
  if (!buckets_.is_large(entry.parameter)) {
    value_or_throw(groups_.mean(whole, whole));
    return;
  }
  // Ranks may have a large gradient in different memory: in the pool, or in its bucket.
  const Numbers home = whole.slice(0, entry.count);
  at::Tensor& stayed = stayed_[entry.parameter];
  ConstNumbers from = home;
  if (stayed.defined()) {
    from = ConstNumbers(stayed.const_data_ptr(), static_cast<std::size_t>(stayed.numel()), buckets_.dtype())
               .slice(entry.from, entry.count);
  }
  value_or_throw(groups_.mean(from, home));
  if (buckets_.buckets_of(entry.parameter).back() == index) stayed = at::Tensor();
}

// A parameter that any rank used gets a gradient on all ranks, a parameter that no rank used gets none.
void MeanGradients::agree() {
  enum : std::uint8_t { kUnused, kUsed, kLate };
  std::vector<std::uint8_t> states;
  for (std::size_t p = 0; p < named_.size(); ++p) {
    const bool is_used = intake_.has_arrived(p) || buckets_.parameters()[p].grad().defined();
    states.push_back(is_late_[p] ? kLate : is_used ? kUsed : kUnused);
  }
  value_or_throw(groups_.all().run(all_reduce(std::span(states), ReduceOp::kMax)));
  std::set<std::size_t> again;
  for (std::size_t p = 0; p < states.size(); ++p) {
    if (states[p] != kUnused) show(p);
    if (states[p] == kLate) again.insert(buckets_.buckets_of(p).begin(), buckets_.buckets_of(p).end());
  }
  for (const std::size_t bucket : again) average(bucket);
}

void MeanGradients::follow_observed_order() {
  const auto order = intake_.learn_order(groups_.all());
  if (order) move_to_order(*order);
}

void MeanGradients::set_bucket_order(const std::vector<std::size_t>& order) {
  intake_.keep_order();
  if (order != order_) move_to_order(order);
}

void MeanGradients::move_to_order(const std::vector<std::size_t>& order) {
  buckets_.move_to(layout(buckets_.parameters(), order));
  order_ = order;
  for (std::size_t p = 0; p < named_.size(); ++p) {
    if (buckets_.parameters()[p].grad().defined()) show(p);
  }
}

}  // namespace cohort::train
