#pragma once

#include <cohort/log.h>

#include "base/clock.h"

#include <fmt/format.h>
#include <string>
#include <utility>

namespace cohort::observe {

/// Formats messages of one rank and passes them to a sink.
///
///     const Log log(sink, clock, {.level = LogLevel::kInfo, .rank = 3});
///     log.info("joined {} peers", count);
///
/// Threads: every method from any thread.
/// Lifetime: a value of three words; sink and clock must outlive it.
/// Cost: one comparison for a message below the level, which is not formatted.
class Log {
 public:
  struct Options {
    LogLevel level = LogLevel::kInfo;
    std::optional<int> rank = std::nullopt;
  };

  Log(LogSink& sink, const Clock& clock, Options options) : sink_(&sink), clock_(&clock), options_(options) {}

  template <class... Args>
  void trace(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::kTrace, format, std::forward<Args>(args)...);
  }
  template <class... Args>
  void debug(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::kDebug, format, std::forward<Args>(args)...);
  }
  template <class... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::kInfo, format, std::forward<Args>(args)...);
  }
  template <class... Args>
  void warning(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::kWarning, format, std::forward<Args>(args)...);
  }
  template <class... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::kError, format, std::forward<Args>(args)...);
  }

  bool shows(LogLevel level) const { return level >= options_.level; }

 private:
  template <class... Args>
  void write(LogLevel level, fmt::format_string<Args...> format, Args&&... args) const {
    if (shows(level)) write_text(level, fmt::format(format, std::forward<Args>(args)...));
  }
  void write_text(LogLevel level, const std::string& text) const {
    sink_->write({.level = level, .time = clock_->wall(), .rank = options_.rank, .text = text});
  }

  LogSink* sink_;
  const Clock* clock_;
  Options options_;
};

}  // namespace cohort::observe
