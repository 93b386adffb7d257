#include "base/log_sink.h"

#include <cerrno>
#include <ctime>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace cohort {
namespace {

std::string formatted(const LogRecord& record, LogFormat format) {
  return format == LogFormat::kJson ? format_json(record) : format_text(record);
}

struct UtcTime {
  std::tm fields{};
  int milliseconds = 0;
};

UtcTime utc(std::chrono::system_clock::time_point time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const std::time_t whole = std::chrono::system_clock::to_time_t(seconds);
  UtcTime result;
  gmtime_r(&whole, &result.fields);
  result.milliseconds =
      static_cast<int>(std::chrono::floor<std::chrono::milliseconds>(time - seconds).count());
  return result;
}

}  // namespace

std::string_view name(LogLevel level) {
  static constexpr std::string_view kNames[] = {"trace", "debug", "info", "warning", "error"};
  return kNames[static_cast<std::size_t>(level)];
}

std::string format_text(const LogRecord& record) {
  const UtcTime time = utc(record.time);
  std::string line = record.rank ? fmt::format("[{}] ", *record.rank) : "";
  line += fmt::format("{:02}:{:02}:{:02}.{:03} {:<7} ", time.fields.tm_hour, time.fields.tm_min,
                      time.fields.tm_sec, time.milliseconds, name(record.level));
  const std::string indent(line.size(), ' ');
  for (const char c : record.text) {
    line += c;
    if (c == '\n') line += indent;
  }
  return line;
}

std::string format_json(const LogRecord& record) {
  const UtcTime time = utc(record.time);
  nlohmann::ordered_json object;
  if (record.rank) object["rank"] = *record.rank;
  object["time"] = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", time.fields.tm_year + 1900,
                               time.fields.tm_mon + 1, time.fields.tm_mday, time.fields.tm_hour,
                               time.fields.tm_min, time.fields.tm_sec, time.milliseconds);
  object["level"] = name(record.level);
  object["text"] = record.text;
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void DescriptorSink::write(const LogRecord& record) noexcept try {
  const std::string line = formatted(record, format_) + '\n';
  const std::lock_guard lock(mutex_);
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t count = ::write(descriptor_, line.data() + done, line.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;  // a sink reports no errors: the record is lost
    done += static_cast<std::size_t>(count);
  }
} catch (...) {  // out of memory: the record is lost, as the contract of LogSink allows
}

}  // namespace cohort
