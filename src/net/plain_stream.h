#pragma once

#include "net/stream.h"

namespace cohort::net {

/// A connected socket that does not block, as it is.
///
/// Lifetime: the socket is its owner's, and must outlive this.
class PlainStream final : public Stream {
 public:
  explicit PlainStream(int socket) : socket_(socket) {}

  Result<std::size_t> read(std::span<const iovec> parts) override;
  Result<std::size_t> write(std::span<const iovec> parts) override;

 private:
  const int socket_;
};

}  // namespace cohort::net
