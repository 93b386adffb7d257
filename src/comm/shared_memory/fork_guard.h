#pragma once

#include <cstddef>

namespace cohort::comm {

/// As long as it lives, a child that fork() makes of this process has a mapping of shared memory for itself:
/// what it writes there reaches nobody, least of all its parent. Of what it has not written it sees what is
/// written elsewhere.
///
/// Threads: every one may make and destroy them, and fork.
/// Cost: a system call in every child.
class ForkGuard {
 public:
  /// Of `size_bytes` from `data` on, where the file was mapped from its beginning.
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
