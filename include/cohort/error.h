#pragma once

#include <cohort/export.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace cohort {

/// What went wrong, in the few kinds a caller may want to tell apart.
enum class ErrorCode {
  kUsage,          ///< the user's mistake: a key, a value, a flag, a file that is not what it should be
  kBug,            ///< a check inside Cohort failed
  kPeerLost,       ///< another rank or host is gone
  kTimedOut,       ///< a deadline passed
  kAborted,        ///< somebody ended the work on purpose, or because of another failure
  kStale,          ///< a message or handle of an earlier generation
  kCorrupt,        ///< bytes that fail their checksum or break their format
  kNotFound,       ///< a file, key or program that is not there
  kAlreadyExists,  ///< something is there that must not be
  kPermission,     ///< the operating system refused
  kDiskFull,       ///< no space or quota left
  kExhausted,      ///< another resource ran out: memory, descriptors, processes
  kUnsupported,    ///< this machine or library cannot do it
  kIo,             ///< any other failure of the operating system
};

/// The code as written in logs and JSON: `peer_lost`, `timed_out`, …
COHORT_EXPORT std::string_view name(ErrorCode code);

/// A line in the source, taken where a function with a default argument `SourcePlace::here()` is called.
struct SourcePlace {
  const char* file = "";
  unsigned line = 0;

  static constexpr SourcePlace here(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
    return {file, line};
  }
};

/// A failure with its causes: the outermost context first, the root last. Below the torch line it travels
/// inside a Result; in the public API it is thrown.
///
/// Threads: immutable, may be copied and read anywhere.
/// Lifetime: a value; causes are shared between copies.
/// Cost: two allocations per level; only failures pay.
class COHORT_EXPORT Error : public std::runtime_error {
 public:
  Error(ErrorCode code, std::string message, SourcePlace place = SourcePlace::here());

  /// The same failure seen from further out: "cannot load 'a.toml'" around "no such file". Keeps the code.
  [[nodiscard]] Error within(std::string context, SourcePlace place = SourcePlace::here()) const;
  /// The same failure with advice: a sentence that says what to do.
  [[nodiscard]] Error with_remedy(std::string remedy) const;

  ErrorCode code() const noexcept;
  /// This level's words only.
  const std::string& message() const noexcept;
  SourcePlace place() const noexcept;
  /// The next level inwards, or null at the root.
  const Error* cause() const noexcept;
  /// The innermost level.
  const Error& root() const noexcept;
  /// The outermost advice on the chain, or empty.
  const std::string& remedy() const noexcept;

  /// True where a new generation, a retry or a restart from a snapshot can help: not for mistakes and bugs.
  bool is_recoverable() const noexcept;

  /// One paragraph for the person who caused it: contexts from the outside in, then the advice.
  std::string text() const;
  // what() is the same paragraph with code and source place for whoever mends it.

 private:
  struct Level;
  explicit Error(std::shared_ptr<const Level> level);

  std::shared_ptr<const Level> level_;
};

/// The user's mistake. The tool prints it and exits with 2.
class COHORT_EXPORT UsageError : public Error {
 public:
  explicit UsageError(std::string message, SourcePlace place = SourcePlace::here())
      : Error(ErrorCode::kUsage, std::move(message), place) {}
  explicit UsageError(const Error& error) : Error(error) {}
};

/// A check inside Cohort failed. The tool prints it and exits with 70.
class COHORT_EXPORT BugError : public Error {
 public:
  explicit BugError(std::string message, SourcePlace place = SourcePlace::here())
      : Error(ErrorCode::kBug, std::move(message), place) {}
  explicit BugError(const Error& error) : Error(error) {}
};

/// Throws `error` as the class its code stands for: UsageError, BugError or Error.
[[noreturn]] COHORT_EXPORT void raise(const Error& error);

}  // namespace cohort
