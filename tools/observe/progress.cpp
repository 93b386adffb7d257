#include "observe/progress.h"

#include "observe/amounts.h"
#include "observe/table.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace cohort::observe {
namespace {

constexpr std::string_view kBetween = "  ";
constexpr std::string_view kToLineStart = "\r";
constexpr std::string_view kClearToLineEnd = "\033[K";

// As many of the parts, from the first on, as fit on one line.
std::string fitted(const std::vector<std::string>& parts, std::size_t columns) {
  std::string line;
  for (const std::string& part : parts) {
    const std::string longer = line.empty() ? part : fmt::format("{}{}{}", line, kBetween, part);
    if (columns_of(longer) > columns) break;
    line = longer;
  }
  return line;
}

}  // namespace

Progress::Progress(const Clock& clock, Write write, ProgressOptions options)
    : clock_(clock), write_(std::move(write)), options_(options) {
  if (!options_.terminal_columns) written_at_ = clock_.now();  // a short run prints lines for its epochs only
}

void Progress::step(const StepReport& record) {
  recent_.add(record);
  last_step_ = record.step;
  if (record.skipped) ++num_skipped_;
  const TimePoint now = clock_.now();
  const auto pause = options_.terminal_columns ? options_.rewrite_every : options_.line_every;
  if (written_at_ && now - *written_at_ < pause) return;
  written_at_ = now;
  if (options_.terminal_columns) {
    rewrite(parts(record));
  } else {
    say(fmt::format("{}", fmt::join(parts(record), kBetween)));
  }
}

void Progress::epoch_end(const EpochRecord& record) {
  std::vector<std::string> parts{fmt::format("epoch {}/{}", record.epoch, options_.epochs),
                                 fmt::format("step {}/{}", last_step_, options_.steps),
                                 fmt::format("loss {}", format_number(record.loss))};
  for (const auto& [name, value] : record.metrics) {
    parts.push_back(fmt::format("{} {}", name, format_number(value)));
  }
  parts.push_back(fmt::format("{} samples/s", format_amount(recent_.samples_per_second())));
  say(fmt::format("{}", fmt::join(parts, kBetween)));
  written_at_ = clock_.now();
}

void Progress::say(std::string_view line) {
  if (line_is_open_) write_(fmt::format("{}{}", kToLineStart, kClearToLineEnd));
  line_is_open_ = false;
  write_(fmt::format("{}\n", line));
}

void Progress::close() {
  if (line_is_open_) write_("\n");
  line_is_open_ = false;
}

std::vector<std::string> Progress::parts(const StepReport& record) const {
  const double left = static_cast<double>(options_.steps - record.step) * recent_.seconds_per_step();
  std::vector<std::string> parts{fmt::format("epoch {}/{}", record.epoch, options_.epochs),
                                 fmt::format("step {}/{}", record.step, options_.steps),
                                 fmt::format("loss {}", format_number(record.loss)),
                                 fmt::format("{} samples/s", format_amount(recent_.samples_per_second())),
                                 fmt::format("comm {}", format_share(recent_.communication_share())),
                                 fmt::format("data {}", format_share(recent_.stall_share())),
                                 fmt::format("left {}", format_time_left(left))};
  if (record.loss_scale) parts.push_back(fmt::format("scale {}", format_number(*record.loss_scale)));
  if (num_skipped_ > 0) parts.push_back(fmt::format("skipped {}", num_skipped_));
  if (!record.f32_stages.empty()) parts.push_back(fmt::format("f32 {}", fmt::join(record.f32_stages, ",")));
  return parts;
}

// The last column stays free: a terminal would wrap the line.
void Progress::rewrite(const std::vector<std::string>& parts) {
  const int columns = std::max(*options_.terminal_columns - 1, 1);
  const std::string line = fitted(parts, static_cast<std::size_t>(columns));
  write_(fmt::format("{}{}{}", kToLineStart, line, kClearToLineEnd));
  line_is_open_ = true;
}

}  // namespace cohort::observe
