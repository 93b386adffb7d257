#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

namespace cohort::launch {

/// The last lines of a stream of bytes. Of a line that was written over after a carriage return, what was
/// written last.
///
/// Threads: one at a time.
/// Cost: at most `most_lines` lines of `longest_line_bytes` each; of a longer line the beginning is kept.
class LastLines {
 public:
  explicit LastLines(std::size_t most_lines = 20, std::size_t longest_line_bytes = 4096)
      : most_lines_(most_lines), longest_line_bytes_(longest_line_bytes) {}

  void add(std::string_view piece);
  /// The lines without their newlines, the oldest first; the last one may be unfinished.
  const std::deque<std::string>& lines() const { return lines_; }

 private:
  void append(std::string_view text);

  std::size_t most_lines_;
  std::size_t longest_line_bytes_;
  std::deque<std::string> lines_;
  bool line_is_open_ = false;
  bool is_back_at_start_ = false;  // what comes next is written over the line
};

}  // namespace cohort::launch
