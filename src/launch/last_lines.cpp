#include "launch/last_lines.h"

#include <algorithm>

namespace cohort::launch {

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

}  // namespace cohort::launch
