#pragma once

#include "base/descriptor.h"
#include "base/result.h"

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace cohort::launch {

/// Writes to a descriptor that several threads share, so that what one call writes stands together.
///
/// Threads: every method from any thread.
/// Lifetime: the descriptor stays the caller's.
/// Failure: kAborted where the reader has gone, kTimedOut after give_up(), else what the system says.
class Writer {
 public:
  static Result<Writer> make(int descriptor, std::string what);

  /// Writes all of it. Blocks while the reader does not read, until give_up().
  Status write(std::string_view bytes);
  void give_up();

 private:
  Writer(int descriptor, std::string what, Descriptor given_up);
  Status wait_until_writable();

  int descriptor_;
  std::string what_;  // for messages: `standard output`
  Descriptor given_up_;
  std::unique_ptr<std::mutex> mutex_;
};

}  // namespace cohort::launch
