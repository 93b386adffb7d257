#pragma once

#include "comm/shared_memory/arena.h"
#include "layout/buckets.h"
#include "train/gradient_pool.h"
#include "train/module_tensors.h"
#include "train/parameter_memory.h"
#include <cohort/numbers.h>

#include <ATen/core/Tensor.h>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace cohort::train {

/// The memory of gradients.
enum class GradientMemory {
  kFlat,    ///< one contiguous block
  kPooled,  ///< large gradients in blocks of a pool, from arrival to release; the others in one block
};

/// The memory of the buckets, in the arena: gradients and, on request, the parameters as one contiguous block
/// with the same layout.
///
/// Gradients have the type of the parameters, which all have the same then. If this holds the parameters as
/// well, they may be f32 or bf16, one type in each bucket, and all gradients are f32: their sums are computed
/// where they lie.
///
/// Threads: one at a time for each bucket.
/// Lifetime: the arena must outlive it. The destructor moves parameters out of the arena.
/// Failure: throws kExhausted if the arena is full, UsageError for parameters of other types.
/// Cost: the padded size of the gradients; pooled gradients take memory only until they are released.
class BucketSet {
 public:
  /// `values` is the memory that the parameters move to; empty, they stay where they are. If the values are
  /// common, all ranks construct this together.
  BucketSet(Arena& arena, std::vector<at::Tensor> parameters, BucketLayout layout,
            ParameterMemory values = {}, GradientMemory gradients = GradientMemory::kFlat);
  ~BucketSet();
  BucketSet(const BucketSet&) = delete;
  BucketSet& operator=(const BucketSet&) = delete;

  const BucketLayout& layout() const { return layout_; }
  const std::vector<at::Tensor>& parameters() const { return parameters_; }
  /// The type of the gradients.
  DType dtype() const { return dtype_; }
  /// The type of a parameter.
  DType value_dtype(std::size_t parameter) const { return value_dtypes_[parameter]; }
  Arena& arena() const { return arena_; }

  /// The gradient of a parameter in its bucket, with the parameter's shape. A pooled gradient exists only
  /// after provide() or adopt().
  const at::Tensor& gradient(std::size_t parameter) const {
    const at::Tensor& adopted = adopted_[parameter];
    return adopted.defined() ? adopted : gradient_views_[parameter];
  }
  /// The buckets that hold a parameter: one, or one for each piece of a large parameter.
  const std::vector<std::size_t>& buckets_of(std::size_t parameter) const {
    return locations_[parameter].buckets;
  }
  /// The part of the model that a parameter belongs to, as its bucket's.
  int part_of(std::size_t parameter) const { return layout_.buckets[buckets_of(parameter).front()].part; }
  /// True for a parameter with several buckets of its own: its gradient is better computed in memory that can
  /// be reduced than copied there.
  bool is_large(std::size_t parameter) const { return locations_[parameter].is_large; }
  /// The elements of a parameter, counted from the start of the flat memory.
  BucketSlice elements_of(std::size_t parameter) const { return locations_[parameter].slice; }

  /// The pool of large gradients; null if no gradient is large.
  GradientPool* pool() const { return pool_.get(); }
  /// True if the gradient lies in memory of the pool, with its elements in the order of the buckets, so that
  /// no copy is needed. Backward may still read an adopted gradient: do not write to it before backward ends.
  bool can_adopt(std::size_t parameter, const at::Tensor& gradient) const;
  void adopt(std::size_t parameter, at::Tensor gradient);
  /// Allocates memory for a pooled gradient that has none.
  void provide(std::size_t parameter);
  /// Returns the memory of a pooled gradient.
  void release(std::size_t parameter);

  Numbers gradients(const Bucket& bucket) const;
  Numbers gradients(const Bucket& bucket, const BucketSlice& slice) const {
    return gradients(bucket).slice(slice.first - bucket.first, slice.count);
  }
  Numbers values(const Bucket& bucket) const;
  Numbers values(const Bucket& bucket, const BucketSlice& slice) const {
    return values(bucket).slice(slice.first - bucket.first, slice.count);
  }
  /// Only for GradientMemory::kFlat.
  Numbers all_gradients() const { return {gradient_block_.bytes().data(), layout_.count, dtype_}; }
  std::span<const std::byte> value_bytes() const { return {values_.data(), value_firsts_.back()}; }
  /// The most bytes of the arena that gradients have held at once.
  std::size_t gradient_bytes() const;
  /// True if all ranks share one copy of the parameters.
  bool has_common_values() const { return values_.is_common(); }
  /// True if this rank writes the first values of its copy of the parameters.
  bool owns_values() const { return values_.is_mine(); }

  /// Moves gradients and parameters to another layout. Pooled gradients must have been released. `values` is
  /// memory for the parameters, if this holds them.
  void move_to(BucketLayout layout, ParameterMemory values = {});

  /// Failure: throws UsageError that names the first parameter whose memory was replaced by other code, such as a
  /// change of type or torch::load.
  void check_attached(const std::vector<NamedTensor>& names) const;

 private:
  struct Location {
    BucketSlice slice{};
    std::vector<std::size_t> buckets{};
    bool is_alone = true;  // no other parameter shares its buckets
    bool is_large = false;
    bool is_pooled = false;
    std::size_t padding = 0;  // elements of its buckets after its last element
  };

  bool is_adopted(const void* data) const;
  void locate_parameters();
  std::byte* value_of(std::size_t parameter) const;
  void make_pool();
  void allocate_gradients();
  void move_parameters_in();
  void* flat_gradient(std::size_t bucket) const;
  at::Tensor view_at(void* first, std::size_t parameter, DType dtype) const;

  Arena& arena_;
  const std::vector<at::Tensor> parameters_;
  const GradientMemory gradients_;
  std::vector<DType> value_dtypes_;  // per parameter
  DType dtype_ = DType::kF32;
  BucketLayout layout_;
  std::vector<std::size_t> value_firsts_;  // per bucket, in bytes, and the end
  ParameterMemory values_;
  std::unique_ptr<GradientPool> pool_;
  ArenaBlock gradient_block_;
  std::vector<std::size_t> gradient_firsts_;  // per bucket, from the start of the block
  std::vector<at::Tensor> gradient_views_;
  std::vector<at::Tensor> adopted_;
  std::mutex provide_mutex_;
  mutable std::mutex mutex_;
  // Addresses of adopted gradients. Under the mutex: backward asks while the other thread releases.
  std::set<const void*> adopted_data_;
  std::vector<Location> locations_;
};

/// The first byte of each bucket in the memory of the parameters, and the end of the last one.
std::vector<std::size_t> value_firsts(const BucketLayout& layout, std::span<const at::Tensor> parameters);

/// The number of elements of each tensor, as plan_buckets() takes them.
std::vector<std::size_t> element_counts(std::span<const at::Tensor> tensors);

}  // namespace cohort::train
