#include "supervise/lines.h"

#include "base/check.h"

#include <algorithm>
#include <utility>

namespace cohort::supervise {

LineCutter::LineCutter(std::string prefix, std::size_t longest_line_bytes)
    : prefix_(std::move(prefix)), longest_line_bytes_(longest_line_bytes) {
  COHORT_CHECK_GT(longest_line_bytes_, 0u);
}

void LineCutter::append_line(std::string_view end, std::string& lines) {
  lines.append(prefix_).append(begun_).append(end).push_back('\n');
  begun_.clear();
}

std::string LineCutter::add(std::string_view piece) {
  std::string lines;
  while (!piece.empty()) {
    const std::size_t newline = piece.find('\n');
    const std::size_t room = longest_line_bytes_ - begun_.size();
    const std::size_t length = std::min(newline, piece.size());
    if (length > room) {
      append_line(piece.substr(0, room), lines);
      piece.remove_prefix(room);
    } else if (newline == std::string_view::npos) {
      begun_.append(piece);
      break;
    } else {
      append_line(piece.substr(0, newline), lines);
      piece.remove_prefix(newline + 1);
    }
  }
  return lines;
}

std::string LineCutter::finish() {
  std::string lines;
  if (!begun_.empty()) append_line({}, lines);
  return lines;
}

void LastLines::append(std::string_view text) {
  if (!line_is_open_) {
    lines_.emplace_back();
    if (lines_.size() > most_lines_) lines_.pop_front();
    line_is_open_ = true;
  }
  while (true) {
    if (is_back_at_start_ && !text.empty()) {
      lines_.back().clear();
      is_back_at_start_ = false;
    }
    const std::size_t end = text.find('\r');
    const std::size_t room = longest_line_bytes_ - lines_.back().size();
    lines_.back().append(text.substr(0, std::min(end, room)));
    if (end == std::string_view::npos) return;
    is_back_at_start_ = true;
    text.remove_prefix(end + 1);
  }
}

void LastLines::add(std::string_view piece) {
  while (!piece.empty()) {
    const std::size_t newline = piece.find('\n');
    append(piece.substr(0, newline));
    if (newline == std::string_view::npos) return;
    line_is_open_ = false;
    is_back_at_start_ = false;
    piece.remove_prefix(newline + 1);
  }
}

}  // namespace cohort::supervise
