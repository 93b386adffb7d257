#pragma once

#include "base/descriptor.h"
#include "base/result.h"

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace cohort::supervise {

/// Writes to a descriptor that several threads share; the bytes of one call stay together.
///
/// Threads: every method from any thread.
/// Lifetime: the caller keeps the descriptor open.
/// Failure: kAborted when the reader has closed the pipe, kTimedOut after give_up(), otherwise the system's
/// error.
class Writer {
 public:
  static Result<Writer> make(int descriptor, std::string what);

  /// Writes all bytes. Blocks while the reader does not read, until give_up().
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

}  // namespace cohort::supervise
