#pragma once

#include "comm/shared_memory/arena.h"
#include "layout/buckets.h"
#include "train/gradient_pool.h"
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

/// Where gradients are kept.
enum class GradientMemory {
  kFlat,    ///< one run of memory
  kPooled,  ///< those of large parameters in memory of a pool, while there are any; the others in one run
};

/// The memory of the buckets: gradients in the arena and, if the parameters are housed here too, one flat run
/// of those, cut by the same layout. All parameters have one type.
///
/// Threads: as its memory is used.
/// Lifetime: the arena must outlive it. Parameters that were housed get memory of their own again when it
/// dies. Failure: throws kExhausted where the arena has no more, UsageError for parameters of mixed types.
/// Cost: the padded size of the gradients; pooled ones take theirs only until they are released.
class BucketSet {
 public:
  /// `values` is where the parameters are to be, or nothing if they stay where they are. With values that are
  /// common, all ranks make this together.
  BucketSet(Arena& arena, std::vector<at::Tensor> parameters, BucketLayout layout,
            ParameterMemory values = {}, GradientMemory gradients = GradientMemory::kFlat);
  ~BucketSet();
  BucketSet(const BucketSet&) = delete;
  BucketSet& operator=(const BucketSet&) = delete;

  const BucketLayout& layout() const { return layout_; }
  const std::vector<at::Tensor>& parameters() const { return parameters_; }
  DType dtype() const { return dtype_; }

  /// The gradient of parameter p in its bucket, shaped like it; a pooled one only after provide() or adopt().
  const at::Tensor& gradient(std::size_t parameter) const {
    const at::Tensor& adopted = adopted_[parameter];
    return adopted.defined() ? adopted : gradient_views_[parameter];
  }
  /// The buckets it lies in: one, or as many as it has pieces.
  const std::vector<std::size_t>& buckets_of(std::size_t parameter) const {
    return places_[parameter].buckets;
  }
  /// It has buckets of its own, several: better computed where it is reduced than copied there.
  bool is_large(std::size_t parameter) const { return places_[parameter].is_large; }
  /// Where all of it lies, from the start of the flat memory.
  BucketSlice place(std::size_t parameter) const { return places_[parameter].slice; }

  /// Where large gradients come from; null if there are none.
  GradientPool* pool() const { return pool_.get(); }
  /// True if this gradient can stay where it is: in memory of the pool, in the order of elements that its
  /// buckets have. Backward may still read it, for others: until that is over it is not to be written to.
  bool can_adopt(std::size_t parameter, const at::Tensor& gradient) const;
  void adopt(std::size_t parameter, at::Tensor gradient);
  /// Makes sure that there is memory for the gradient.
  void provide(std::size_t parameter);
  /// The gradient is used up.
  void release(std::size_t parameter);

  Numbers gradients(const Bucket& bucket) const;
  Numbers gradients(const Bucket& bucket, const BucketSlice& slice) const {
    return gradients(bucket).slice(slice.first - bucket.first, slice.count);
  }
  Numbers values(const Bucket& bucket) const { return all_values().slice(bucket.first, bucket.count); }
  Numbers values(const BucketSlice& slice) const { return all_values().slice(slice.first, slice.count); }
  /// Of flat memory only.
  Numbers all_gradients() const { return {gradient_block_.bytes().data(), layout_.count, dtype_}; }
  Numbers all_values() const { return {values_.data(), layout_.count, dtype_}; }
  /// Bytes of arena that gradients hold, or have held at once.
  std::size_t gradient_bytes() const;
  /// All ranks see one copy of the parameters.
  bool has_common_values() const { return values_.is_common(); }

  /// Puts everything, with its content, where another layout wants it; what is pooled has none. `values`:
  /// memory for the parameters, if they are housed here.
  void move_to(BucketLayout layout, ParameterMemory values = {});

  /// A parameter that is no longer where it was housed: code that replaces its memory does that, such as a
  /// change of type or torch::load.
  std::optional<std::size_t> first_detached() const;

 private:
  struct Place {
    BucketSlice slice{};
    std::vector<std::size_t> buckets{};
    bool is_alone = true;  // in its buckets
    bool is_large = false;
    bool is_pooled = false;
    std::size_t padding = 0;  // elements its buckets have beyond it
  };

  bool is_adopted(const void* data) const;
  void find_places();
  void make_pool();
  void allocate_gradients();
  void house_parameters();
  void* flat_gradient(std::size_t bucket) const;
  at::Tensor view_at(void* first, std::size_t parameter) const;

  Arena& arena_;
  const std::vector<at::Tensor> parameters_;
  const GradientMemory gradients_;
  DType dtype_ = DType::kF32;
  BucketLayout layout_;
  ParameterMemory values_;
  std::unique_ptr<GradientPool> pool_;
  ArenaBlock gradient_block_;
  std::vector<std::size_t> gradient_firsts_;  // per bucket, from the start of the block
  std::vector<at::Tensor> gradient_views_;
  std::vector<at::Tensor> adopted_;
  mutable std::mutex mutex_;
  std::set<const void*>
      adopted_data_;  // where those lie: under the mutex, as backward asks while others are released
  std::vector<Place> places_;
};

/// The elements of each tensor, as plan_buckets() wants them.
std::vector<std::size_t> element_counts(std::span<const at::Tensor> tensors);

}  // namespace cohort::train
