#pragma once

#include "net/stream.h"

#include <cohort/random.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>

namespace cohort::test {

/// A connection in memory. Each read and write moves a random number of bytes, and the connection breaks
/// where the test wants.
class MemoryPipe {
 public:
  explicit MemoryPipe(std::uint64_t seed) : dice_(seed, 1) {}

  /// Breaks the connection after this many more bytes; bytes in flight are lost.
  void break_after(std::size_t bytes) { left_ = bytes; }
  bool is_broken() const { return left_ == 0; }

  class End final : public net::Stream {
   public:
    End(MemoryPipe& pipe, std::size_t side) : pipe_(pipe), side_(side) {}

    Result<std::size_t> read(std::span<const iovec> parts) override {
      if (pipe_.is_broken()) return Error(ErrorCode::kPeerLost, "broken");
      std::deque<std::byte>& from = pipe_.bytes_[1 - side_];
      std::size_t cap = std::min(from.size(), pipe_.some());
      std::size_t all = 0;
      for (const iovec& part : parts) {
        const std::size_t count = std::min(cap - all, part.iov_len);
        std::copy_n(from.begin(), count, static_cast<std::byte*>(part.iov_base));
        from.erase(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count));
        all += count;
      }
      return all;
    }
    Result<std::size_t> write(std::span<const iovec> parts) override {
      if (pipe_.is_broken()) return Error(ErrorCode::kPeerLost, "broken");
      const std::size_t cap = std::min(pipe_.some(), pipe_.left_);
      std::size_t all = 0;
      for (const iovec& part : parts) {
        const std::size_t count = std::min(cap - all, part.iov_len);
        const auto* bytes = static_cast<const std::byte*>(part.iov_base);
        pipe_.bytes_[side_].insert(pipe_.bytes_[side_].end(), bytes, bytes + count);
        all += count;
      }
      pipe_.left_ -= all;
      return all;
    }

   private:
    MemoryPipe& pipe_;
    const std::size_t side_;
  };
  End end(std::size_t side) { return {*this, side}; }

 private:
  std::size_t some() {
    const std::uint64_t bits = dice_.bits(index_++);
    if (bits % 8 == 0) return 0;
    return std::size_t{1} << (bits / 8 % 18);
  }

  RandomStream dice_;
  std::uint64_t index_ = 0;
  std::size_t left_ = std::size_t{1} << 60;
  std::deque<std::byte> bytes_[2];
};

}  // namespace cohort::test
