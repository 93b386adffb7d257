#pragma once

#include "comm/shared_memory/arena.h"

#include <c10/core/Allocator.h>
#include <memory>

namespace cohort::c10d_plugin {

/// Allocates the tensors of one group in its arena, and in ordinary memory once the arena is full or gone.
/// A tensor that is resized gets its new memory from the same allocator.
///
/// Threads: every method from any thread.
/// Lifetime: until the process ends, because tensors hold a plain pointer to their allocator. The memory of a
/// tensor keeps its arena; the allocator itself does not.
class GroupAllocator final : public c10::Allocator {
 public:
  static GroupAllocator& make(const std::shared_ptr<Arena>& arena) { return *new GroupAllocator(arena); }

  c10::DataPtr allocate(std::size_t size_bytes) override;
  void copy_data(void* to, const void* from, std::size_t size_bytes) const override;

 private:
  explicit GroupAllocator(std::weak_ptr<Arena> arena) : arena_(std::move(arena)) {}

  const std::weak_ptr<Arena> arena_;
};

}  // namespace cohort::c10d_plugin
