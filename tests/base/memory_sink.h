#pragma once

#include "base/log_sink.h"

#include <mutex>
#include <string>
#include <vector>

namespace cohort {

/// A log sink that keeps its lines in memory.
class MemorySink final : public LogSink {
 public:
  explicit MemorySink(LogFormat format = LogFormat::kText) : format_(format) {}

  void write(const LogRecord& record) noexcept override {
    const std::lock_guard lock(mutex_);
    lines_.push_back(format_ == LogFormat::kJson ? format_json(record) : format_text(record));
  }

  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
  const LogFormat format_;
};

}  // namespace cohort
