#pragma once

#include "comm/shared_memory/arena.h"
#include "layout/buckets.h"
#include <cohort/numbers.h>

#include <ATen/core/Tensor.h>
#include <cstddef>
#include <span>
#include <vector>

namespace cohort::train {

/// What of the parameters lies in the arena.
enum class Housed { kGradients, kParametersAndGradients };

/// The memory of the buckets: one flat run of gradients in the arena and, beside it, one of the parameters,
/// both cut by the same layout. All parameters have one type.
///
/// Threads: as its memory is used.
/// Lifetime: the arena must outlive it. Parameters that were housed get memory of their own again when it
/// dies.
/// Failure: throws kExhausted where the arena has no more, UsageError for parameters of mixed types.
/// Cost: the padded size of the parameters, once or twice.
class BucketSet {
 public:
  BucketSet(Arena& arena, std::vector<at::Tensor> parameters, BucketLayout layout, Housed housed);
  ~BucketSet();
  BucketSet(const BucketSet&) = delete;
  BucketSet& operator=(const BucketSet&) = delete;

  const BucketLayout& layout() const { return layout_; }
  const std::vector<at::Tensor>& parameters() const { return parameters_; }
  DType dtype() const { return dtype_; }

  /// The gradient of parameter p in its bucket, shaped like it.
  const at::Tensor& gradient(std::size_t parameter) const {
    const at::Tensor& adopted = adopted_[parameter];
    return adopted.defined() ? adopted : gradient_views_[parameter];
  }
  /// The buckets it lies in: one, or as many as it has pieces.
  const std::vector<std::size_t>& buckets_of(std::size_t parameter) const {
    return places_[parameter].buckets;
  }
  /// Where all of it lies, from the start of the flat memory.
  BucketSlice place(std::size_t parameter) const { return places_[parameter].slice; }

  /// Takes a gradient where it is, instead of a copy of it: memory of the arena with room for the padding of
  /// its buckets, which belong to this parameter alone. Until release().
  void adopt(std::size_t parameter, at::Tensor gradient);
  void release(std::size_t parameter) { adopted_[parameter] = at::Tensor(); }
  /// True if the parameter shares its buckets with no other.
  bool is_alone(std::size_t parameter) const { return places_[parameter].is_alone; }
  /// How many elements its buckets have beyond it.
  std::size_t padding(std::size_t parameter) const { return places_[parameter].padding; }

  Numbers gradients(const Bucket& bucket) const;
  Numbers gradients(const Bucket& bucket, const BucketSlice& slice) const {
    return gradients(bucket).slice(slice.first - bucket.first, slice.count);
  }
  Numbers values(const Bucket& bucket) const { return all_values().slice(bucket.first, bucket.count); }
  Numbers values(const BucketSlice& slice) const { return all_values().slice(slice.first, slice.count); }
  Numbers all_gradients() const { return {gradient_block_.bytes().data(), layout_.count, dtype_}; }
  Numbers all_values() const { return {value_block_.bytes().data(), layout_.count, dtype_}; }

  /// Puts everything, with its content, where another layout wants it.
  void move_to(BucketLayout layout);

  /// True while every parameter is where it was housed; code that replaces a parameter's memory, such as a
  /// change of type, ends that.
  bool is_attached() const;

 private:
  void attach();
  at::Tensor view_of(const Numbers& flat, std::size_t parameter) const;

  Arena& arena_;
  const std::vector<at::Tensor> parameters_;
  const Housed housed_;
  DType dtype_ = DType::kF32;
  BucketLayout layout_;
  ArenaBlock gradient_block_;
  ArenaBlock value_block_;
  std::vector<at::Tensor> gradient_views_;
  std::vector<at::Tensor> adopted_;
  struct Place {
    BucketSlice slice;
    std::vector<std::size_t> buckets;
    bool is_alone = true;
    std::size_t padding = 0;
  };
  std::vector<Place> places_;
};

/// The elements of each tensor, as plan_buckets() wants them.
std::vector<std::size_t> element_counts(std::span<const at::Tensor> tensors);

}  // namespace cohort::train
