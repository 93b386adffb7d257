#include "launch/last_lines.h"

#include <algorithm>

namespace cohort::launch {

void LastLines::append(std::string_view text) {
  if (!line_is_open_) {
    lines_.emplace_back();
    if (lines_.size() > most_lines_) lines_.pop_front();
    line_is_open_ = true;
  }
  const std::size_t room = longest_line_bytes_ - lines_.back().size();
  lines_.back().append(text.substr(0, room));
}

void LastLines::add(std::string_view piece) {
  while (!piece.empty()) {
    const std::size_t newline = piece.find('\n');
    append(piece.substr(0, newline));
    if (newline == std::string_view::npos) return;
    line_is_open_ = false;
    piece.remove_prefix(newline + 1);
  }
}

}  // namespace cohort::launch
