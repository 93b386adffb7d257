#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cohort::launch {

/// Cuts a stream of bytes into lines, each with a prefix and a newline at its end.
///
/// A line longer than the cap comes out as several, each with the prefix: what is kept in memory stays
/// bounded, and what is given out is always whole lines.
///
/// Threads: one at a time.
class LineCutter {
 public:
  explicit LineCutter(std::string prefix, std::size_t longest_line_bytes = std::size_t{1} << 20);

  /// The lines that `piece` completes, ready to be written; often none.
  std::string add(std::string_view piece);
  /// What is left of a last line without a newline.
  std::string finish();

 private:
  void append_line(std::string_view end, std::string& lines);

  std::string prefix_;
  std::size_t longest_line_bytes_;
  std::string begun_;
};

}  // namespace cohort::launch
