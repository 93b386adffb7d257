#pragma once

#include "comm/shared_memory/layout.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace cohort::comm {

/// A ring buffer of bytes from one member to another, in the writer's arena. Both counters only grow, and
/// each has one writer. Bytes between `read` and `written` belong to the reader, the rest to the writer.
///
/// Threads: one writer and one reader, in any process.
struct Ring {
  static constexpr std::size_t kBytes = std::size_t{128} << 10;

  alignas(kCacheLine) std::atomic<std::uint64_t> written{0};
  std::atomic<std::uint32_t> closed{0};  ///< set by the writer: no more bytes will be written
  alignas(kCacheLine) std::atomic<std::uint64_t> read{0};
  std::atomic<std::uint32_t> refused{0};  ///< set by the reader: no more bytes will be read
  alignas(kCacheLine) std::byte data[kBytes];

  /// Writes as many of `bytes` as fit; returns how many.
  std::size_t put(std::span<const std::byte> bytes) {
    const std::uint64_t at = written.load(std::memory_order_relaxed);
    const std::size_t room = kBytes - static_cast<std::size_t>(at - read.load(std::memory_order_acquire));
    const std::size_t length = std::min(bytes.size(), room);
    const std::size_t first = at % kBytes;
    const std::size_t before_end = std::min(length, kBytes - first);
    if (length == 0) return 0;
    std::memcpy(data + first, bytes.data(), before_end);
    if (length > before_end) std::memcpy(data, bytes.data() + before_end, length - before_end);
    written.store(at + length, std::memory_order_release);
    return length;
  }

  std::size_t available() const {
    return static_cast<std::size_t>(written.load(std::memory_order_acquire) -
                                    read.load(std::memory_order_relaxed));
  }

  /// Reads up to `length` bytes into `into`, or discards them if `into` is null. Returns how many.
  std::size_t take(std::byte* into, std::size_t length) {
    const std::uint64_t at = read.load(std::memory_order_relaxed);
    const std::size_t taken = std::min(length, available());
    const std::size_t first = at % kBytes;
    const std::size_t before_end = std::min(taken, kBytes - first);
    if (taken == 0) return 0;
    if (into != nullptr) {
      std::memcpy(into, data + first, before_end);
      if (taken > before_end) std::memcpy(into + before_end, data, taken - before_end);
    }
    read.store(at + taken, std::memory_order_release);
    return taken;
  }
};

}  // namespace cohort::comm
