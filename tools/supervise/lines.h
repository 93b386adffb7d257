#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

namespace cohort::supervise {

/// Cuts a stream of bytes into lines, each with a prefix and a newline at its end.
///
/// A line longer than the limit becomes several lines, each with the prefix, so that memory stays bounded.
///
/// Threads: one at a time.
class LineCutter {
 public:
  explicit LineCutter(std::string prefix, std::size_t longest_line_bytes = std::size_t{1} << 20);

  /// The lines that `piece` completes, ready to be written; often empty.
  std::string add(std::string_view piece);
  /// The unfinished last line, with prefix and newline; empty if there is no unfinished line.
  std::string finish();

 private:
  void append_line(std::string_view end, std::string& lines);

  std::string prefix_;
  std::size_t longest_line_bytes_;
  std::string begun_;
};

/// The last lines of a stream of bytes. A line that was overwritten after a carriage return (a progress line)
/// is kept as it was written last.
///
/// Threads: one at a time.
/// Cost: at most `most_lines` lines of `longest_line_bytes` each; a longer line is cut at its end.
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
  bool is_back_at_start_ = false;  // the next text overwrites the line
};

}  // namespace cohort::supervise
