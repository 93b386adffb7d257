#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>

namespace cohort {

/// The beginning of what a program wrote to one stream, and how much of the end was let go.
struct CapturedOutput {
  std::string text{};
  std::uint64_t dropped_bytes = 0;

  /// Keeps what fits below `cap_bytes` in total and counts the rest.
  void append(std::string_view piece, std::size_t cap_bytes) noexcept {
    std::size_t kept = std::min(piece.size(), cap_bytes - std::min(cap_bytes, text.size()));
    if (dropped_bytes > 0) kept = 0;
    try {
      text.append(piece.substr(0, kept));
    } catch (const std::bad_alloc&) {
      kept = 0;
    }
    dropped_bytes += piece.size() - kept;
  }
};

}  // namespace cohort
