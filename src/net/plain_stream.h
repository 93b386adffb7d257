#pragma once

#include "base/descriptor.h"
#include "net/stream.h"

namespace cohort::net {

/// A connected socket that does not block, as it is.
class PlainStream final : public Stream {
 public:
  explicit PlainStream(Descriptor socket) : socket_(std::move(socket)) {}

  Result<std::size_t> read(std::span<const iovec> parts) override;
  Result<std::size_t> write(std::span<const iovec> parts) override;

 private:
  const Descriptor socket_;
};

}  // namespace cohort::net
