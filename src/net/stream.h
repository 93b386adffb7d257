#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <sys/uio.h>

namespace cohort::net {

/// Bytes in both directions, over one connection, in the clear or not. After a 0, or a false, it goes on when
/// the connection can be read, or, if it was writing, written.
///
/// Threads: one at a time.
/// Failure: what read() says ends the connection; kPeerLost if the other side has. Until then there may be
/// something to read, though nothing can be written any more: what is written is swallowed.
class Stream {
 public:
  virtual ~Stream() = default;

  /// Fills the parts in order with what is there; 0: nothing is.
  virtual Result<std::size_t> read(std::span<const iovec> parts) = 0;
  /// Takes what it can of the parts, in order; 0: nothing now.
  virtual Result<std::size_t> write(std::span<const iovec> parts) = 0;
  /// Bytes that have come over the connection so far, whether they can be read yet or not.
  std::uint64_t num_come() const { return num_come_; }
  /// Does what has to be said before the first byte; true when all is. Until then nothing is read or written.
  virtual Result<bool> prepare() { return true; }

 protected:
  std::uint64_t num_come_ = 0;
};

}  // namespace cohort::net
