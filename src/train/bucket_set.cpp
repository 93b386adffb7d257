#include "train/bucket_set.h"

#include "base/check.h"
#include "tensor/scalar_type.h"
#include <cohort/tensor.h>

#include <ATen/ATen.h>
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

BucketSet::BucketSet(Arena& arena, std::vector<at::Tensor> parameters, BucketLayout layout, Housed housed)
    : arena_(arena),
      parameters_(std::move(parameters)),
      housed_(housed),
      dtype_(common_dtype(parameters_)),
      layout_(std::move(layout)) {
  const std::size_t size = std::max<std::size_t>(layout_.count, 1) * size_bytes(dtype_);
  gradient_block_ = value_or_throw(arena_.allocate(size).within("no room for the gradients"));
  if (housed_ == Housed::kParametersAndGradients) {
    value_block_ = value_or_throw(arena_.allocate(size).within("no room for the parameters"));
  }
  attach();
}

BucketSet::~BucketSet() {
  for (const at::Tensor& parameter : parameters_) {
    parameter.mutable_grad() = at::Tensor();
    if (housed_ == Housed::kParametersAndGradients) {
      at::Tensor(parameter).set_data(parameter.detach().clone());
    }
  }
}

void BucketSet::attach() {
  const at::NoGradGuard no_grad;
  places_.assign(parameters_.size(), Place{});
  adopted_.assign(parameters_.size(), at::Tensor());
  gradient_views_.assign(parameters_.size(), at::Tensor());
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
    COHORT_CHECK_EQ(places_[p].slice.count, static_cast<std::size_t>(parameters_[p].numel()), "parameter {}",
                    p);
    gradient_views_[p] = view_of(all_gradients(), p);
    if (housed_ == Housed::kGradients) continue;
    const at::Tensor home = view_of(all_values(), p);
    home.copy_(parameters_[p]);
    at::Tensor(parameters_[p]).set_data(home);
  }
}

at::Tensor BucketSet::view_of(const Numbers& flat, std::size_t parameter) const {
  const at::Tensor& like = parameters_[parameter];
  const BucketSlice whole = place(parameter);
  void* first = flat.slice(whole.first, whole.count).data;
  const auto options = at::TensorOptions().dtype(like.scalar_type());
  // Memory that is dense in another order of dimensions, such as channels last, stays so.
  if (like.is_non_overlapping_and_dense()) return at::from_blob(first, like.sizes(), like.strides(), options);
  return at::from_blob(first, like.sizes(), options);
}

void BucketSet::adopt(std::size_t parameter, at::Tensor gradient) {
  COHORT_CHECK(is_alone(parameter));
  auto* end = static_cast<std::byte*>(gradient.mutable_data_ptr()) + gradient.nbytes();
  std::memset(end, 0, padding(parameter) * size_bytes(dtype_));
  adopted_[parameter] = std::move(gradient);
}

Numbers BucketSet::gradients(const Bucket& bucket) const {
  const BucketEntry& entry = bucket.entries.front();
  const at::Tensor& adopted = adopted_[entry.parameter];
  if (!adopted.defined()) return all_gradients().slice(bucket.first, bucket.count);
  const ConstNumbers whole(adopted.const_data_ptr(), entry.from + bucket.count, dtype_);
  return {const_cast<std::byte*>(whole.slice(entry.from, 0).data), bucket.count, dtype_};
}

void BucketSet::move_to(BucketLayout layout) {
  const BucketLayout before = std::exchange(layout_, std::move(layout));
  const std::size_t size = std::max<std::size_t>(layout_.count, 1) * size_bytes(dtype_);
  ArenaBlock old = std::exchange(gradient_block_,
                                 value_or_throw(arena_.allocate(size).within("no room for the gradients")));
  const ArenaBlock old_values = std::exchange(value_block_, ArenaBlock());
  if (housed_ == Housed::kParametersAndGradients) {
    value_block_ = value_or_throw(arena_.allocate(size).within("no room for the parameters"));
  }
  attach();  // copies the parameters out of their old place
  const ConstNumbers from(old.bytes().data(), before.count, dtype_);
  for (const Bucket& bucket : before.buckets) {
    for (const BucketEntry& entry : bucket.entries) {
      const ConstNumbers gradient = from.slice(entry.first, entry.count);
      std::memcpy(all_gradients().slice(place(entry.parameter).first + entry.from, entry.count).data,
                  gradient.data, gradient.size_bytes());
    }
  }
}

bool BucketSet::is_attached() const {
  if (housed_ == Housed::kGradients) return true;
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    if (parameters_[p].const_data_ptr() != all_values().slice(place(p).first, 0).data) return false;
  }
  return true;
}

}  // namespace cohort::train
