#pragma once

#include <cohort/log.h>

#include <string>

namespace cohort {

/// `[3] 12:00:00.123 info    joined 4 peers`, without a newline at the end. The rank in front is left out
/// when the record has no rank; further lines of the message are indented below the first.
std::string format_text(const LogRecord& record);
/// `{"rank":3,"time":"2026-01-31T12:00:00.123Z","level":"info","text":"joined 4 peers"}`, without a newline
/// at the end.
std::string format_json(const LogRecord& record);

}  // namespace cohort
