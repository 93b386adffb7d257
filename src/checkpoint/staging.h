#pragma once

#include "base/result.h"

#include <cstddef>
#include <span>

namespace cohort::checkpoint {

/// Memory that holds a copy of the state while it is written.
///
/// Cost: its pages are taken at once, so that the first copy is as fast as the others.
class Staging {
 public:
  Staging() = default;
  /// Failure: kExhausted if there is no memory.
  static Result<Staging> make(std::size_t size_bytes);
  ~Staging();
  Staging(Staging&& other) noexcept;
  Staging& operator=(Staging&& other) noexcept;

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  explicit Staging(std::span<std::byte> bytes) : bytes_(bytes) {}
  void release();

  std::span<std::byte> bytes_;
};

}  // namespace cohort::checkpoint
