#pragma once

#include "base/result.h"
#include "comm/shared_memory/arena.h"

#include <map>
#include <memory_resource>
#include <mutex>
#include <new>

namespace cohort::test {

/// Lets containers of the standard library allocate in an arena. Throws std::bad_alloc when the arena is
/// exhausted.
///
/// Threads: every method from any thread.
/// Lifetime: the arena must outlive it, and it must outlive its containers.
class ArenaResource final : public std::pmr::memory_resource {
 public:
  explicit ArenaResource(Arena& arena) : arena_(arena) {}

 private:
  void* do_allocate(std::size_t size_bytes, std::size_t alignment) override {
    Result<ArenaBlock> block = arena_.allocate(size_bytes);
    if (!block || alignment > comm::kCacheLine) throw std::bad_alloc();
    void* data = block->bytes().data();
    const std::lock_guard lock(mutex_);
    blocks_.emplace(data, *std::move(block));
    return data;
  }
  void do_deallocate(void* data, std::size_t, std::size_t) override {
    const std::lock_guard lock(mutex_);
    blocks_.erase(data);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

  Arena& arena_;
  std::mutex mutex_;
  std::map<void*, ArenaBlock> blocks_;
};

}  // namespace cohort::test
