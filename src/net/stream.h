#pragma once

#include "base/descriptor.h"
#include "base/result.h"
#include "net/reactor.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <sys/uio.h>

namespace cohort::net {

/// Non-blocking bytes in both directions over one connection, plain or encrypted. After read() or prepare()
/// returned 0 or false, try again when the socket is readable; after write() returned 0, when it is writable.
///
/// Threads: one at a time.
/// Failure: only read() reports the end of the connection: kPeerLost if the peer closed it. A connection that
/// cannot be written may still hold bytes to read, so write() then drops its bytes without an error.
class Stream {
 public:
  virtual ~Stream() = default;

  /// Fills the parts in order and returns the number of bytes; 0 if none have come.
  virtual Result<std::size_t> read(std::span<const iovec> parts) = 0;
  /// Sends the parts in order and returns the number of bytes taken; 0 if the socket takes none now.
  virtual Result<std::size_t> write(std::span<const iovec> parts) = 0;
  /// Bytes received from the socket so far, including those that are not decrypted yet.
  std::uint64_t num_come() const { return num_come_; }
  /// Runs the TLS handshake, if there is one. True once it is complete; do not read or write before.
  virtual Result<bool> prepare() { return true; }

 protected:
  std::uint64_t num_come_ = 0;
};

/// A Stream without encryption over a connected, non-blocking socket.
///
/// Threads: one at a time.
/// Lifetime: does not own the socket, which must outlive the stream.
class PlainStream final : public Stream {
 public:
  explicit PlainStream(int socket) : socket_(socket) {}

  Result<std::size_t> read(std::span<const iovec> parts) override;
  Result<std::size_t> write(std::span<const iovec> parts) override;

 private:
  const int socket_;
};

/// A connected socket with its readiness flags and its byte stream, plain or encrypted.
///
/// Threads: one at a time.
/// Lifetime: the reactor must outlive the connection.
struct Connection {
  Connection(Descriptor connected, Reactor& reactor)
      : socket(std::move(connected)),
        watch(reactor.watch(socket.number())),
        stream(std::make_unique<PlainStream>(socket.number())) {}

  Descriptor socket;
  std::unique_ptr<Watch> watch;  // after `socket`, to be destroyed before it
  std::unique_ptr<Stream> stream;
  bool is_prepared = false;
};

}  // namespace cohort::net
