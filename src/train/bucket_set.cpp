#include "train/bucket_set.h"

#include "base/check.h"
#include "tensor/scalar_type.h"
#include <cohort/tensor.h>

#include <ATen/ATen.h>
#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace cohort::train {
namespace {

DType common_dtype(const std::vector<at::Tensor>& parameters) {
  if (parameters.empty()) return DType::kF32;
  const DType first = dtype_of(parameters.front());
  for (const at::Tensor& parameter : parameters) {
    if (dtype_of(parameter) != first) {
      throw UsageError(fmt::format("parameters of types {} and {} share one set of buckets", name(first),
                                   name(dtype_of(parameter))));
    }
  }
  return first;
}

}  // namespace

std::vector<std::size_t> element_counts(std::span<const at::Tensor> tensors) {
  std::vector<std::size_t> counts;
  for (const at::Tensor& tensor : tensors) counts.push_back(static_cast<std::size_t>(tensor.numel()));
  return counts;
}

BucketSet::BucketSet(Arena& arena, std::vector<at::Tensor> parameters, BucketLayout layout,
                     ParameterMemory values, GradientMemory gradients)
    : arena_(arena),
      parameters_(std::move(parameters)),
      gradients_(gradients),
      dtype_(common_dtype(parameters_)),
      layout_(std::move(layout)),
      values_(std::move(values)) {
  find_places();
  if (gradients_ == GradientMemory::kPooled) make_pool();
  allocate_gradients();
  if (values_) house_parameters();
}

BucketSet::~BucketSet() {
  for (const at::Tensor& parameter : parameters_) {
    parameter.mutable_grad() = at::Tensor();
    if (values_) at::Tensor(parameter).set_data(parameter.detach().clone());
  }
}

void BucketSet::find_places() {
  places_.assign(parameters_.size(), Place{});
  for (std::size_t b = 0; b < layout_.buckets.size(); ++b) {
    for (const BucketEntry& entry : layout_.buckets[b].entries) {
      Place& place = places_[entry.parameter];
      if (place.buckets.empty()) place.slice.first = entry.first;
      COHORT_CHECK_EQ(place.slice.first + place.slice.count, entry.first, "pieces follow each other");
      place.slice.count += entry.count;
      place.buckets.push_back(b);
      place.is_alone = place.is_alone && layout_.buckets[b].entries.size() == 1;
      place.padding += layout_.buckets[b].count - entry.count;
    }
  }
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    Place& place = places_[p];
    COHORT_CHECK_EQ(place.slice.count, static_cast<std::size_t>(parameters_[p].numel()), "parameter {}", p);
    // Small ones are better copied into a bucket they share.
    place.is_large =
        place.is_alone && place.buckets.size() > 1 && parameters_[p].is_non_overlapping_and_dense();
    place.is_pooled = place.is_large && gradients_ == GradientMemory::kPooled;
  }
}

void BucketSet::make_pool() {
  std::set<std::size_t> sizes;
  std::size_t padding = 0;
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    if (!places_[p].is_pooled) continue;
    sizes.insert(parameters_[p].nbytes());
    padding = std::max(padding, places_[p].padding * size_bytes(dtype_));
  }
  if (!sizes.empty()) pool_ = std::make_unique<GradientPool>(arena_, std::move(sizes), padding);
}

void BucketSet::allocate_gradients() {
  std::size_t count = 0;
  gradient_firsts_.clear();
  for (const Bucket& bucket : layout_.buckets) {
    gradient_firsts_.push_back(count);
    if (!places_[bucket.entries.front().parameter].is_pooled) count += bucket.count;
  }
  gradient_block_ = value_or_throw(arena_.allocate(std::max<std::size_t>(count, 1) * size_bytes(dtype_))
                                       .within("no room for the gradients"));
  adopted_.assign(parameters_.size(), at::Tensor());
  adopted_data_.clear();
  gradient_views_.assign(parameters_.size(), at::Tensor());
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    if (places_[p].is_pooled) continue;
    const Bucket& bucket = layout_.buckets[buckets_of(p).front()];
    const std::size_t in_bucket = (place(p).first - bucket.first) * size_bytes(dtype_);
    gradient_views_[p] =
        view_at(static_cast<std::byte*>(flat_gradient(buckets_of(p).front())) + in_bucket, p);
  }
}

void BucketSet::house_parameters() {
  const at::NoGradGuard no_grad;
  const auto home = [&](std::size_t p) { return view_at(all_values().slice(place(p).first, 0).data, p); };
  if (values_.is_mine()) {
    for (std::size_t p = 0; p < parameters_.size(); ++p) home(p).copy_(parameters_[p]);
  }
  values_.settle();
  for (std::size_t p = 0; p < parameters_.size(); ++p) at::Tensor(parameters_[p]).set_data(home(p));
}

void* BucketSet::flat_gradient(std::size_t bucket) const {
  return gradient_block_.bytes().data() + gradient_firsts_[bucket] * size_bytes(dtype_);
}

at::Tensor BucketSet::view_at(void* first, std::size_t parameter) const {
  const at::Tensor& like = parameters_[parameter];
  const auto options = at::TensorOptions().dtype(like.scalar_type());
  // Memory that is dense in another order of dimensions, such as channels last, stays so.
  if (like.is_non_overlapping_and_dense()) return at::from_blob(first, like.sizes(), like.strides(), options);
  return at::from_blob(first, like.sizes(), options);
}

bool BucketSet::can_adopt(std::size_t p, const at::Tensor& gradient) const {
  return places_[p].is_pooled && pool_->lends(gradient) &&
         gradient.scalar_type() == parameters_[p].scalar_type() &&
         gradient.strides() == parameters_[p].strides() && !is_adopted(gradient.const_data_ptr());
}

bool BucketSet::is_adopted(const void* data) const {
  const std::lock_guard lock(mutex_);
  return adopted_data_.count(data) != 0;
}

void BucketSet::adopt(std::size_t parameter, at::Tensor gradient) {
  COHORT_CHECK(can_adopt(parameter, gradient));
  auto* end = static_cast<std::byte*>(gradient.mutable_data_ptr()) + gradient.nbytes();
  std::memset(end, 0, places_[parameter].padding * size_bytes(dtype_));
  {
    const std::lock_guard lock(mutex_);
    adopted_data_.insert(gradient.const_data_ptr());
  }
  adopted_[parameter] = std::move(gradient);
}

void BucketSet::release(std::size_t parameter) {
  if (!adopted_[parameter].defined()) return;
  {
    const std::lock_guard lock(mutex_);
    adopted_data_.erase(adopted_[parameter].const_data_ptr());
  }
  adopted_[parameter] = at::Tensor();
}

void BucketSet::provide(std::size_t parameter) {
  if (places_[parameter].is_pooled && !adopted_[parameter].defined()) {
    adopt(parameter, pool_->tensor_like(parameters_[parameter]));
  }
}

Numbers BucketSet::gradients(const Bucket& bucket) const {
  const BucketEntry& entry = bucket.entries.front();
  if (!places_[entry.parameter].is_pooled) {
    return {flat_gradient(static_cast<std::size_t>(&bucket - layout_.buckets.data())), bucket.count, dtype_};
  }
  const at::Tensor& adopted = adopted_[entry.parameter];
  COHORT_CHECK(adopted.defined(), "parameter {} has no gradient", entry.parameter);
  const ConstNumbers whole(adopted.const_data_ptr(), entry.from + bucket.count, dtype_);
  return {const_cast<std::byte*>(whole.slice(entry.from, 0).data), bucket.count, dtype_};
}

std::size_t BucketSet::gradient_bytes() const {
  return gradient_block_.bytes().size() + (pool_ != nullptr ? pool_->size_bytes() : 0);
}

void BucketSet::move_to(BucketLayout layout, ParameterMemory values) {
  COHORT_CHECK_EQ(static_cast<bool>(values), static_cast<bool>(values_));
  const std::vector<at::Tensor> before = gradient_views_;
  const ArenaBlock block = std::exchange(gradient_block_, ArenaBlock());  // what the views look at
  layout_ = std::move(layout);
  find_places();
  allocate_gradients();
  for (std::size_t p = 0; p < before.size(); ++p) {
    if (before[p].defined() && gradient_views_[p].defined()) gradient_views_[p].copy_(before[p]);
  }
  if (!values_) return;
  ParameterMemory old_values = std::exchange(values_, std::move(values));
  house_parameters();
  old_values.give_back();
}

std::optional<std::size_t> BucketSet::first_detached() const {
  if (!values_) return std::nullopt;
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    if (parameters_[p].const_data_ptr() != all_values().slice(place(p).first, 0).data) return p;
  }
  return std::nullopt;
}

}  // namespace cohort::train
