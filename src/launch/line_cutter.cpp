#include "launch/line_cutter.h"

#include "base/check.h"

#include <algorithm>
#include <utility>

namespace cohort::launch {

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

}  // namespace cohort::launch
