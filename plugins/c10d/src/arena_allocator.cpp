#include "arena_allocator.h"

#include <algorithm>
#include <c10/core/CPUAllocator.h>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <unordered_map>

namespace cohort::c10d_plugin {
namespace {

/// The allocator that torch gets. It cannot be taken away from torch again, so its arena is set and reset.
///
/// Threads: every method from any thread.
/// Lifetime: until the process ends.
class ArenaAllocator final : public c10::Allocator {
 public:
  void give_from(std::shared_ptr<Arena> arena, std::size_t at_least) {
    const std::lock_guard lock(mutex_);
    if (arena != arena_) clear_idle();
    arena_ = std::move(arena);
    at_least_ = at_least;
    gives_ = true;
    if (usual_ != nullptr) return;
    usual_ = c10::GetCPUAllocator();
    ::pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);
    c10::SetCPUAllocator(this, kPriority);
  }
  void give_as_usual() {
    const std::lock_guard lock(mutex_);
    gives_ = false;
  }

  void give_no_more_of(const std::shared_ptr<Arena>& arena) {
    const std::lock_guard lock(mutex_);
    if (arena != arena_) return;
    for (auto& [length, block] : idle_) new auto(std::move(block));  // leaked on purpose: never reused
    clear_idle();
    arena_ = nullptr;
    gives_ = false;
  }

  c10::DataPtr allocate(std::size_t size_bytes) override {
    void* const data = take(size_bytes);
    if (data == nullptr) return usual_->allocate(size_bytes);
    return {data, data, &ArenaAllocator::give_back, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &ArenaAllocator::give_back; }
  void copy_data(void* to, const void* from, std::size_t size_bytes) const override {
    std::memcpy(to, from, size_bytes);
  }

 private:
  static constexpr std::uint8_t kPriority = 255;
  // Lengths are rounded up to multiples of this, so that more freed blocks fit the next tensor.
  static constexpr std::size_t kGrain = std::size_t{64} << 10;
  static constexpr std::size_t kIdleCap = std::size_t{2} << 30;
  struct Given {
    std::shared_ptr<Arena> arena;  // before `block`, to be destroyed after it
    ArenaBlock block;
  };

  void* take(std::size_t size_bytes) {
    const std::lock_guard lock(mutex_);
    if (!gives_ || size_bytes < at_least_) return nullptr;
    const std::size_t length = std::max(kGrain, (size_bytes + kGrain - 1) / kGrain * kGrain);
    std::optional<ArenaBlock> block = take_idle(length);
    if (!block) block = take_new(length);
    if (!block) return nullptr;
    void* const data = block->bytes().data();
    given_.emplace(data, Given{arena_, std::move(*block)});
    return data;
  }

  std::optional<ArenaBlock> take_idle(std::size_t length) {
    const auto found = idle_.lower_bound(length);
    if (found == idle_.end() || found->first > length + length / 4) return std::nullopt;
    ArenaBlock block = std::move(found->second);
    idle_bytes_ -= found->first;
    idle_.erase(found);
    return block;
  }

  std::optional<ArenaBlock> take_new(std::size_t length) {
    Result<ArenaBlock> block = arena_->allocate(length);
    if (!block && !idle_.empty()) {
      clear_idle();
      block = arena_->allocate(length);
    }
    return block ? std::optional(std::move(*block)) : std::nullopt;
  }

  void clear_idle() {
    idle_.clear();
    idle_bytes_ = 0;
  }
  void keep(ArenaBlock block) {
    const std::size_t length = block.bytes().size();
    if (idle_bytes_ + length > kIdleCap) return;  // given back to the arena
    idle_bytes_ += length;
    idle_.emplace(length, std::move(block));
  }

  static void give_back(void* data);
  // A fork waits until no other thread is inside the allocator. The child allocates nothing in the arena,
  // whose bookkeeping belongs to the parent.
  static void before_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();

  std::mutex mutex_;
  c10::Allocator* usual_ = nullptr;
  std::shared_ptr<Arena> arena_;
  bool gives_ = false;
  std::size_t at_least_ = 0;
  std::unordered_map<void*, Given> given_;
  std::size_t idle_bytes_ = 0;
  std::multimap<std::size_t, ArenaBlock> idle_;  // freed blocks of `arena_`, by length
};

// Never destroyed: tensors may outlive every other object.
ArenaAllocator& the_allocator() {
  static auto* const allocator = new ArenaAllocator;
  return *allocator;
}

void ArenaAllocator::before_fork() {
  the_allocator().mutex_.lock();
}

void ArenaAllocator::after_fork_in_parent() {
  the_allocator().mutex_.unlock();
}

void ArenaAllocator::after_fork_in_child() {
  ArenaAllocator& allocator = the_allocator();
  allocator.gives_ = false;
  allocator.mutex_.unlock();
}

// torch calls the same deleter for memory of the original allocator: the pointer tells them apart.
void ArenaAllocator::give_back(void* data) {
  if (data == nullptr) return;
  ArenaAllocator& allocator = the_allocator();
  {
    const std::lock_guard lock(allocator.mutex_);
    auto given = allocator.given_.extract(data);
    if (given) {
      ArenaBlock& block = given.mapped().block;
      if (given.mapped().arena == allocator.arena_) allocator.keep(std::move(block));
      return;
    }
  }
  allocator.usual_->raw_deleter()(data);
}

}  // namespace

void allocate_in(std::shared_ptr<Arena> arena, std::size_t at_least) {
  the_allocator().give_from(std::move(arena), at_least);
}

void allocate_as_usual() {
  the_allocator().give_as_usual();
}

void give_no_more_of(const std::shared_ptr<Arena>& arena) {
  the_allocator().give_no_more_of(arena);
}

}  // namespace cohort::c10d_plugin
