#pragma once

#include <cohort/export.h>

#include <chrono>
#include <mutex>
#include <optional>
#include <string_view>

namespace cohort {

enum class LogLevel { kTrace, kDebug, kInfo, kWarning, kError };

/// `trace`, `debug`, `info`, `warning`, `error`.
COHORT_EXPORT std::string_view name(LogLevel level);

/// One log message. `text` is valid only during LogSink::write().
struct LogRecord {
  LogLevel level = LogLevel::kInfo;
  std::chrono::system_clock::time_point time{};
  std::optional<int> rank = std::nullopt;  ///< empty in processes that are not ranks: launcher and tools
  std::string_view text{};
};

/// Receiver of log records. The program passes one in: the library itself never prints.
///
/// Threads: write() is called from any thread, also concurrently; the sink does the locking.
/// Failure: write() must not throw. A record that the sink cannot write is lost.
class COHORT_EXPORT LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void write(const LogRecord& record) noexcept = 0;
};

enum class LogFormat { kText, kJson };

/// Writes log records as lines to a file descriptor, such as 2 for standard error: one write(2) per record,
/// so that lines of several processes do not mix.
///
///     cohort::DescriptorSink log(2);
///     cohort::Context context({.log = &log});
///
/// Threads: any; one mutex.
/// Lifetime: does not own the descriptor.
class COHORT_EXPORT DescriptorSink final : public LogSink {
 public:
  explicit DescriptorSink(int descriptor, LogFormat format = LogFormat::kText)
      : descriptor_(descriptor), format_(format) {}
  void write(const LogRecord& record) noexcept override;

 private:
  std::mutex mutex_;
  const int descriptor_;
  const LogFormat format_;
};

}  // namespace cohort
