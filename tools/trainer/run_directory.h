#pragma once

#include "base/descriptor.h"
#include "base/result.h"

#include <string>

namespace cohort::tool {

/// The folder a run writes to, for as long as this lives its own: another job that wants it is refused. What
/// an earlier run left there is kept under names that begin with `earlier-`.
///
/// Lifetime: the lock goes with the process, however that ends.
/// Failure: kUsage if another job has the folder; else what the operating system says, with train.directory
/// named.
class RunDirectory {
 public:
  static Result<RunDirectory> take(const std::string& path);

 private:
  explicit RunDirectory(Descriptor lock) : lock_(std::move(lock)) {}

  Descriptor lock_;
};

}  // namespace cohort::tool
