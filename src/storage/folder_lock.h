#pragma once

#include "base/descriptor.h"
#include "base/result.h"

#include <string>

namespace cohort {

/// A folder of this machine that no other holder of a lock uses.
///
/// Lifetime: the lock ends with this object, or with the process, however the process ends.
/// Failure: take() returns kUsage if somebody else has the lock; else the error of the operating system.
class FolderLock {
 public:
  static Result<FolderLock> take(const std::string& path);

 private:
  explicit FolderLock(Descriptor lock) : lock_(std::move(lock)) {}

  Descriptor lock_;
};

}  // namespace cohort
