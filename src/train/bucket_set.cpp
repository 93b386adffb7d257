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

std::vector<DType> dtypes_of(std::span<const at::Tensor> tensors) {
  std::vector<DType> dtypes;
  for (const at::Tensor& tensor : tensors) dtypes.push_back(dtype_of(tensor));
  return dtypes;
}

DType common_dtype(const std::vector<DType>& dtypes) {
  for (const DType dtype : dtypes) {
    if (dtype == dtypes.front()) continue;
    throw UsageError(fmt::format("parameters of types {} and {} share one set of buckets",
                                 name(dtypes.front()), name(dtype)));
  }
  return dtypes.empty() ? DType::kF32 : dtypes.front();
}

bool is_f32_or_bf16(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kBF16;
}

}  // namespace

// Pieces of a large parameter follow each other without a gap; other buckets begin on a cache line.
std::vector<std::size_t> value_firsts(const BucketLayout& layout, std::span<const at::Tensor> parameters) {
  constexpr std::size_t kCacheLine = 64;
  std::vector<std::size_t> firsts;
  std::size_t end = 0;
  for (const Bucket& bucket : layout.buckets) {
    const BucketEntry& entry = bucket.entries.front();
    if (entry.from == 0) end = (end + kCacheLine - 1) / kCacheLine * kCacheLine;
    firsts.push_back(end);
    end += bucket.count * size_bytes(dtype_of(parameters[entry.parameter]));
  }
  firsts.push_back(end);
  return firsts;
}

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
      value_dtypes_(dtypes_of(parameters_)),
      layout_(std::move(layout)),
      values_(std::move(values)) {
  const bool sums_in_f32 = values_ && std::all_of(value_dtypes_.begin(), value_dtypes_.end(), is_f32_or_bf16);
  dtype_ = sums_in_f32 ? DType::kF32 : common_dtype(value_dtypes_);
  locate_parameters();
  if (gradients_ == GradientMemory::kPooled) make_pool();
  allocate_gradients();
  if (values_) move_parameters_in();
}

BucketSet::~BucketSet() {
  for (const at::Tensor& parameter : parameters_) {
    parameter.mutable_grad() = at::Tensor();
    if (values_) at::Tensor(parameter).set_data(parameter.detach().clone());
  }
}

void BucketSet::locate_parameters() {
  locations_.assign(parameters_.size(), Location{});
  for (std::size_t b = 0; b < layout_.buckets.size(); ++b) {
    for (const BucketEntry& entry : layout_.buckets[b].entries) {
      Location& location = locations_[entry.parameter];
      if (location.buckets.empty()) location.slice.first = entry.first;
      COHORT_CHECK_EQ(location.slice.first + location.slice.count, entry.first, "pieces follow each other");
      location.slice.count += entry.count;
      location.buckets.push_back(b);
      location.is_alone = location.is_alone && layout_.buckets[b].entries.size() == 1;
      location.padding += layout_.buckets[b].count - entry.count;
    }
  }
  value_firsts_ = value_firsts(layout_, parameters_);
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    Location& location = locations_[p];
    COHORT_CHECK_EQ(location.slice.count, static_cast<std::size_t>(parameters_[p].numel()), "parameter {}",
                    p);
    // Small gradients are better copied into a bucket that several parameters share.
    location.is_large =
        location.is_alone && location.buckets.size() > 1 && parameters_[p].is_non_overlapping_and_dense();
    location.is_pooled = location.is_large && gradients_ == GradientMemory::kPooled;
  }
}

void BucketSet::make_pool() {
  std::set<std::size_t> sizes;
  std::size_t padding = 0;
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    if (!locations_[p].is_pooled) continue;
    sizes.insert(locations_[p].slice.count * size_bytes(dtype_));
    padding = std::max(padding, locations_[p].padding * size_bytes(dtype_));
  }
  if (!sizes.empty()) pool_ = std::make_unique<GradientPool>(arena_, std::move(sizes), padding);
}

void BucketSet::allocate_gradients() {
  std::size_t count = 0;
  gradient_firsts_.clear();
  for (const Bucket& bucket : layout_.buckets) {
    gradient_firsts_.push_back(count);
    if (!locations_[bucket.entries.front().parameter].is_pooled) count += bucket.count;
  }
  gradient_block_ =
      value_or_throw(arena_.allocate(std::max<std::size_t>(count, 1) * size_bytes(dtype_))
                         .within("no room for the gradients in the shared memory of this rank"));
  adopted_.assign(parameters_.size(), at::Tensor());
  adopted_data_.clear();
  gradient_views_.assign(parameters_.size(), at::Tensor());
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    if (locations_[p].is_pooled) continue;
    const Bucket& bucket = layout_.buckets[buckets_of(p).front()];
    const std::size_t in_bucket = (elements_of(p).first - bucket.first) * size_bytes(dtype_);
    gradient_views_[p] =
        view_at(static_cast<std::byte*>(flat_gradient(buckets_of(p).front())) + in_bucket, p, dtype_);
  }
}

void BucketSet::move_parameters_in() {
  const at::NoGradGuard no_grad;
  const auto target = [&](std::size_t p) { return view_at(value_of(p), p, value_dtypes_[p]); };
  if (values_.is_mine()) {
    for (std::size_t p = 0; p < parameters_.size(); ++p) target(p).copy_(parameters_[p]);
  }
  values_.settle();
  for (std::size_t p = 0; p < parameters_.size(); ++p) at::Tensor(parameters_[p]).set_data(target(p));
}

Numbers BucketSet::values(const Bucket& bucket) const {
  const auto b = static_cast<std::size_t>(&bucket - layout_.buckets.data());
  return {values_.data() + value_firsts_[b], bucket.count, value_dtypes_[bucket.entries.front().parameter]};
}

std::byte* BucketSet::value_of(std::size_t parameter) const {
  const Bucket& bucket = layout_.buckets[buckets_of(parameter).front()];
  return values(bucket).slice(elements_of(parameter).first - bucket.first, 0).data;
}

void* BucketSet::flat_gradient(std::size_t bucket) const {
  return gradient_block_.bytes().data() + gradient_firsts_[bucket] * size_bytes(dtype_);
}

at::Tensor BucketSet::view_at(void* first, std::size_t parameter, DType dtype) const {
  const at::Tensor& like = parameters_[parameter];
  const auto options = at::TensorOptions().dtype(scalar_type_of(dtype));
  // Keeps the order of dimensions of dense memory, such as channels last.
  if (like.is_non_overlapping_and_dense()) return at::from_blob(first, like.sizes(), like.strides(), options);
  return at::from_blob(first, like.sizes(), options);
}

bool BucketSet::can_adopt(std::size_t p, const at::Tensor& gradient) const {
  return locations_[p].is_pooled && pool_->lends(gradient) &&
         gradient.scalar_type() == scalar_type_of(dtype_) && gradient.strides() == parameters_[p].strides() &&
         !is_adopted(gradient.const_data_ptr());
}

bool BucketSet::is_adopted(const void* data) const {
  const std::lock_guard lock(mutex_);
  return adopted_data_.count(data) != 0;
}

void BucketSet::adopt(std::size_t parameter, at::Tensor gradient) {
  COHORT_CHECK(can_adopt(parameter, gradient));
  auto* end = static_cast<std::byte*>(gradient.mutable_data_ptr()) + gradient.nbytes();
  std::memset(end, 0, locations_[parameter].padding * size_bytes(dtype_));
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
  const std::lock_guard lock(provide_mutex_);  // several buckets may ask for the same large gradient
  if (locations_[parameter].is_pooled && !adopted_[parameter].defined()) {
    adopt(parameter, pool_->tensor_like(parameters_[parameter], scalar_type_of(dtype_)));
  }
}

Numbers BucketSet::gradients(const Bucket& bucket) const {
  const BucketEntry& entry = bucket.entries.front();
  if (!locations_[entry.parameter].is_pooled) {
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
  const ArenaBlock block = std::exchange(gradient_block_, ArenaBlock());  // keeps the memory of the old views
  layout_ = std::move(layout);
  locate_parameters();
  allocate_gradients();
  for (std::size_t p = 0; p < before.size(); ++p) {
    if (before[p].defined() && gradient_views_[p].defined()) gradient_views_[p].copy_(before[p]);
  }
  if (!values_) return;
  ParameterMemory old_values = std::exchange(values_, std::move(values));
  move_parameters_in();
  old_values.give_back();
}

void BucketSet::check_attached(const std::vector<NamedTensor>& names) const {
  for (std::size_t p = 0; values_ && p < parameters_.size(); ++p) {
    if (parameters_[p].numel() == 0) continue;  // an empty tensor has no address
    if (parameters_[p].const_data_ptr() == value_of(p)) continue;
    throw UsageError(
        UsageError(
            fmt::format("the memory of parameter '{}' was replaced while a trainer uses it", names[p].name))
            .with_remedy("Copy values into a parameter, with copy_(), or make the trainer afterwards."));
  }
}

}  // namespace cohort::train
