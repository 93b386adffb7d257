#pragma once

#include <cohort/log.h>

#include <mutex>
#include <string>

namespace cohort {

enum class LogFormat { kText, kJson };

/// `[3] 12:00:00.123 info    joined 4 peers`, without a newline at the end. The rank in front is left out
/// when the record has none; further lines of the message are indented below the first.
std::string format_text(const LogRecord& record);
/// `{"rank":3,"time":"2026-01-31T12:00:00.123Z","level":"info","text":"joined 4 peers"}`, without a newline
/// at the end.
std::string format_json(const LogRecord& record);

/// Writes lines to a file descriptor, one write(2) per record, so that lines of several processes do not mix.
///
/// Threads: any; one mutex.
/// Lifetime: does not own the descriptor.
class DescriptorSink final : public LogSink {
 public:
  DescriptorSink(int descriptor, LogFormat format) : descriptor_(descriptor), format_(format) {}
  void write(const LogRecord& record) noexcept override;

 private:
  std::mutex mutex_;
  const int descriptor_;
  const LogFormat format_;
};

}  // namespace cohort
