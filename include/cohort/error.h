#pragma once

#include <cohort/export.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace cohort {

/// The kinds of failure that a caller may want to tell apart.
enum class ErrorCode {
  kUsage,          ///< the user's mistake: a wrong key, value, option or file
  kBug,            ///< a check inside Cohort failed
  kPeerLost,       ///< another rank or host is gone
  kTimedOut,       ///< a deadline passed
  kAborted,        ///< the work was ended by abort(), or because another rank failed
  kStale,          ///< a message or handle of an earlier generation
  kCorrupt,        ///< bytes that fail their checksum or break their format
  kNotFound,       ///< a file, key or program does not exist
  kAlreadyExists,  ///< a file, port or name is taken already
  kPermission,     ///< the operating system refused
  kDiskFull,       ///< no space or quota left
  kExhausted,      ///< another resource ran out: memory, descriptors, processes
  kUnsupported,    ///< this machine, library or version lacks the feature
  kIo,             ///< any other failure of the operating system
  kDiverged,       ///< a loss or a gradient became NaN or infinite
};

/// The code as written in logs and JSON: `peer_lost`, `timed_out`, …
COHORT_EXPORT std::string_view name(ErrorCode code);

/// A line of source code. As default argument, `SourceLocation::here()` is the line of the caller.
struct SourceLocation {
  const char* file = "";
  unsigned line = 0;

  static constexpr SourceLocation here(const char* file = __builtin_FILE(),
                                       unsigned line = __builtin_LINE()) {
    return {file, line};
  }
};

/// A failure and the chain of its causes, from the outermost context to the root cause. The public API throws
/// it; code that does not use libtorch returns it inside a Result.
///
/// Threads: immutable; may be copied and read from any thread.
/// Lifetime: a value; copies share their causes.
/// Cost: two allocations for each level of the chain.
class COHORT_EXPORT Error : public std::runtime_error {
 public:
  Error(ErrorCode code, std::string message, SourceLocation location = SourceLocation::here());

  /// This failure as the cause of a wider one: "cannot load 'a.toml'" around "no such file". The code stays.
  [[nodiscard]] Error within(std::string context, SourceLocation location = SourceLocation::here()) const;
  /// This failure with advice to the user: a whole sentence that says what to do.
  [[nodiscard]] Error with_remedy(std::string remedy) const;
  /// This failure with the rank that is lost, late or failed.
  [[nodiscard]] Error with_rank(int rank) const;

  ErrorCode code() const noexcept;
  /// The message of this level only, without causes.
  const std::string& message() const noexcept;
  SourceLocation location() const noexcept;
  /// The next level towards the root cause; null at the root.
  const Error* cause() const noexcept;
  /// The root cause.
  const Error& root() const noexcept;
  /// The outermost advice in the chain; empty without advice.
  const std::string& remedy() const noexcept;
  /// The rank that failed, as numbered among all ranks of the generation, in whichever group it happened: the
  /// index in Context::members(). The first of several. Taken from the outermost level that names a rank.
  std::optional<int> rank() const noexcept;

  /// Whether a retry, or a restart from a checkpoint, can succeed: false for usage errors and bugs.
  bool is_recoverable() const noexcept;

  /// One paragraph for users: all messages from the outermost to the root cause, then the advice.
  std::string text() const;
  // what() is the same paragraph with error code and source location, for developers.

 private:
  struct Level;
  explicit Error(std::shared_ptr<const Level> level);

  std::shared_ptr<const Level> level_;
};

/// A mistake of the user (kUsage). The tool `cohort` prints it and exits with 2.
class COHORT_EXPORT UsageError : public Error {
 public:
  explicit UsageError(std::string message, SourceLocation location = SourceLocation::here())
      : Error(ErrorCode::kUsage, std::move(message), location) {}
  explicit UsageError(const Error& error) : Error(error) {}
};

/// A failed internal check (kBug). The tool `cohort` prints it and exits with 70.
class COHORT_EXPORT BugError : public Error {
 public:
  explicit BugError(std::string message, SourceLocation location = SourceLocation::here())
      : Error(ErrorCode::kBug, std::move(message), location) {}
  explicit BugError(const Error& error) : Error(error) {}
};

/// Throws `error` as the class of its code: UsageError, BugError or Error.
[[noreturn]] COHORT_EXPORT void raise(const Error& error);

}  // namespace cohort
