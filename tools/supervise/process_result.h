#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <string_view>

namespace cohort {

/// How a process ended: exactly one of the two members has a value.
struct ExitStatus {
  std::optional<int> code{};    ///< the exit code
  std::optional<int> signal{};  ///< the signal that killed the process

  bool is_success() const { return code == 0; }
  /// `exited with 3`, `was killed by signal 9 (SIGKILL)`.
  std::string text() const;

  bool operator==(const ExitStatus&) const = default;
};

/// The beginning of the output of a program on one stream, and the number of bytes that were dropped after
/// it.
struct CapturedOutput {
  std::string text{};
  std::uint64_t dropped_bytes = 0;

  /// Keeps bytes until `cap_bytes` are stored and counts the rest.
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
