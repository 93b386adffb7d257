#pragma once

#include <cohort/export.h>

#include <chrono>
#include <optional>
#include <string_view>

namespace cohort {

enum class LogLevel { kTrace, kDebug, kInfo, kWarning, kError };

/// `trace`, `debug`, `info`, `warning`, `error`.
COHORT_EXPORT std::string_view name(LogLevel level);

/// One thing that happened. The text lives only during LogSink::write.
struct LogRecord {
  LogLevel level = LogLevel::kInfo;
  std::chrono::system_clock::time_point time{};
  std::optional<int> rank = std::nullopt;  ///< none before a rank is known: in the launcher and in tools
  std::string_view text{};
};

/// Where records go: injected, the library itself never prints.
///
/// Threads: write() is called from any thread; the sink orders the calls.
/// Failure: write() must not throw; what cannot be written is lost.
class COHORT_EXPORT LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void write(const LogRecord& record) noexcept = 0;
};

}  // namespace cohort
