#pragma once

#include "base/result.h"

#include <cstddef>
#include <span>
#include <sys/uio.h>

namespace cohort::net {

/// Bytes in both directions, over one connection, in the clear or not.
///
/// Threads: one at a time.
/// Failure: what read() and write() say ends the connection; kPeerLost if the other side has.
class Stream {
 public:
  virtual ~Stream() = default;

  /// Fills the parts in order with what is there; 0: nothing is.
  virtual Result<std::size_t> read(std::span<const iovec> parts) = 0;
  /// Takes what it can of the parts, in order; 0: nothing now.
  virtual Result<std::size_t> write(std::span<const iovec> parts) = 0;
  /// What it waits for, as poll() names it, after a 0.
  virtual bool reading_wants_to_write() const { return false; }
  virtual bool writing_wants_to_read() const { return false; }
};

}  // namespace cohort::net
