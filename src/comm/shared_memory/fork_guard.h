#pragma once

#include <cstddef>

namespace cohort::comm {

/// Makes a mapping of shared memory private in every child that fork() makes of this process: writes of the
/// child reach no other process. Pages that the child has not written still show writes of others.
///
/// Threads: any thread may create and destroy guards, and fork.
/// Lifetime: the mapping must outlive it.
/// Cost: one system call in every child.
class ForkGuard {
 public:
  /// Guards `size_bytes` from `data` on, where `file` was mapped from its beginning.
  ForkGuard(std::byte* data, std::size_t size_bytes, int file);
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

 private:
  friend class GuardedMappings;
  std::byte* const data_;
  const std::size_t size_bytes_;
  const int file_;
  ForkGuard* next_ = nullptr;
  ForkGuard* previous_ = nullptr;
};

}  // namespace cohort::comm
