#include "base/log.h"

namespace cohort {

std::string_view name(LogLevel level) {
  static constexpr std::string_view kNames[] = {"trace", "debug", "info", "warning", "error"};
  return kNames[static_cast<std::size_t>(level)];
}

void Log::write_text(LogLevel level, const std::string& text) const {
  sink_->write({.level = level, .time = clock_->wall(), .rank = options_.rank, .text = text});
}

}  // namespace cohort
