#include "comm/shared_memory/fork_guard.h"

#include <mutex>
#include <pthread.h>
#include <sys/mman.h>

namespace cohort::comm {

/// All guards of the process, linked through the guards themselves: a child must not allocate between fork
/// and exec.
class GuardedMappings {
 public:
  GuardedMappings() { ::pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child); }

  void add(ForkGuard& guard) {
    const std::lock_guard lock(mutex_);
    guard.next_ = first_;
    if (first_ != nullptr) first_->previous_ = &guard;
    first_ = &guard;
  }
  void remove(ForkGuard& guard) {
    const std::lock_guard lock(mutex_);
    if (guard.next_ != nullptr) guard.next_->previous_ = guard.previous_;
    (guard.previous_ != nullptr ? guard.previous_->next_ : first_) = guard.next_;
  }

  // Never destroyed: a process may fork while it exits.
  static GuardedMappings& of_process() {
    static auto& only = *new GuardedMappings;
    return only;
  }

 private:
  static void before_fork() { of_process().mutex_.lock(); }
  static void after_fork_in_parent() { of_process().mutex_.unlock(); }
  static void after_fork_in_child() {
    constexpr int kFlags = MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED;
    for (ForkGuard* guard = of_process().first_; guard != nullptr; guard = guard->next_) {
      ::mmap(guard->data_, guard->size_bytes_, PROT_READ | PROT_WRITE, kFlags, guard->file_, 0);
    }
    of_process().mutex_.unlock();
  }

  std::mutex mutex_;
  ForkGuard* first_ = nullptr;
};

ForkGuard::ForkGuard(std::byte* data, std::size_t size_bytes, int file)
    : data_(data), size_bytes_(size_bytes), file_(file) {
  GuardedMappings::of_process().add(*this);
}

ForkGuard::~ForkGuard() {
  GuardedMappings::of_process().remove(*this);
}

}  // namespace cohort::comm
