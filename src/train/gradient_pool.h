#pragma once

#include "comm/shared_memory/arena.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Allocator.h>
#include <cstddef>
#include <memory>
#include <set>

namespace cohort::train {

/// Memory in the arena for large gradients: autograd computes them in memory that other ranks can read, so
/// that no copy is needed.
///
/// torch asks one allocator of the process for all memory and passes only the size. So the pool serves a
/// thread only while a Use lives on it, and only sizes that a gradient has. Another tensor of such a size,
/// for example an intermediate result, gets memory of the pool too, and returns it like any other.
///
/// Threads: every method from any thread.
/// Lifetime: tensors in memory of the pool may outlive the pool and the arena.
/// Failure: if the arena is full, tensors get ordinary memory.
/// Cost: keeps as many blocks of each size as were ever in use at once.
class GradientPool {
 public:
  /// `sizes` are the sizes of gradients in bytes. Each block has `padding_bytes` more.
  GradientPool(Arena& arena, std::set<std::size_t> sizes, std::size_t padding_bytes);
  ~GradientPool();
  GradientPool(const GradientPool&) = delete;
  GradientPool& operator=(const GradientPool&) = delete;

  struct Turn;
  /// While it lives, tensors that this thread makes lie in the pool if they have one of its sizes. May be
  /// destroyed on another thread.
  class Use {
   public:
    explicit Use(GradientPool* pool);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    std::shared_ptr<Turn> before_, mine_;
  };

  /// A tensor of this type in memory of the pool, with the sizes and strides of `other`. Throws kExhausted if
  /// the arena is full.
  at::Tensor tensor_like(const at::Tensor& other, at::ScalarType type);
  /// True if the tensor is a whole block of this pool. Several tensors may be the same block: autograd may
  /// return views.
  bool lends(const at::Tensor& tensor) const;
  /// The bytes of the arena that the pool holds.
  std::size_t size_bytes() const;

 private:
  friend class ArenaAllocator;
  struct Blocks;
  struct Lease;

  bool owns(const void* data) const;

  /// Null if no gradient has this size, or the arena is full.
  c10::DataPtr allocate(std::size_t size_bytes);

  const std::set<std::size_t> sizes_;
  std::shared_ptr<Blocks> blocks_;
};

}  // namespace cohort::train
