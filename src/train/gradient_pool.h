#pragma once

#include "comm/shared_memory/arena.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Allocator.h>
#include <cstddef>
#include <memory>
#include <set>

namespace cohort::train {

/// Memory in the arena for large gradients: autograd computes them where the other ranks can read them, and
/// nobody has to copy them there.
///
/// torch asks one allocator of the process for all memory and tells it the size alone. So this takes part
/// only while a Use lives on the thread that asks, and only for sizes that a gradient has; another tensor of
/// the same size, such as an intermediate one, gets such memory too and gives it back like any other.
///
/// Threads: every method from any thread.
/// Lifetime: memory that was handed out may outlive it, and the arena.
/// Failure: where the arena has no more, tensors get ordinary memory.
/// Cost: blocks are kept: as many of a size as were ever in use at once.
class GradientPool {
 public:
  /// `sizes`: the bytes of the gradients. Each block has room for `padding_bytes` more.
  GradientPool(Arena& arena, std::set<std::size_t> sizes, std::size_t padding_bytes);
  ~GradientPool();
  GradientPool(const GradientPool&) = delete;
  GradientPool& operator=(const GradientPool&) = delete;

  struct Turn;
  /// While it lives, tensors that this thread makes come from the pool, if they have one of its sizes. May
  /// end on another thread.
  class Use {
   public:
    explicit Use(GradientPool* pool);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    std::shared_ptr<Turn> before_, mine_;
  };

  /// A tensor in memory of the pool, with the sizes and strides of another. Throws kExhausted if the arena
  /// has no more.
  at::Tensor tensor_like(const at::Tensor& other);
  /// True if all of the tensor, and nothing else, lies in a block of this pool. Autograd may leave a view, so
  /// that several tensors are the same block.
  bool lends(const at::Tensor& tensor) const;
  /// Bytes of arena that it holds.
  std::size_t size_bytes() const;

 private:
  friend class ArenaAllocator;
  struct Blocks;
  struct Lease;

  bool owns(const void* data) const;

  /// Nothing if the size is none of its own, or the arena has no more.
  c10::DataPtr allocate(std::size_t size_bytes);

  const std::set<std::size_t> sizes_;
  std::shared_ptr<Blocks> blocks_;
};

}  // namespace cohort::train
