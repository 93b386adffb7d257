#pragma once

#include "base/byte_stream.h"
#include "interchange/input/file_window.h"

#include <string>
#include <string_view>
#include <vector>

namespace cohort::interchange {

/// Reads a window of a file from front to back, a buffer at a time, so that neither its length nor a length
/// inside it decides how much memory is needed.
///
/// Threads: one at a time.
/// Lifetime: the file must outlive it.
/// Failure: kCorrupt, naming the field, its place in the file and its length, if the window ends before.
/// Cost: a buffer of 64 KiB, or of the longest field.
class ByteFeed {
 public:
  explicit ByteFeed(FileWindow window) : window_(window) {}

  /// The next `count` bytes, valid until the next call.
  Result<std::span<const std::byte>> take(std::size_t count, std::string_view field);
  /// The text before the next line feed, which is skipped. kCorrupt if it is longer than `cap` bytes.
  Result<std::string> line(std::size_t cap, std::string_view field);
  template <class Number>
  Result<Number> number(std::string_view field) {
    COHORT_ASSIGN_OR_RETURN(const auto bytes, take(sizeof(Number), field));
    return get_at<Number>(bytes, 0);
  }

  /// The number of bytes that were taken.
  std::uint64_t taken() const { return fetched_ - (buffer_.size() - at_); }
  /// The place of the next byte in the file.
  std::uint64_t place() const { return window_.place(taken()); }

 private:
  Status fetch(std::size_t count, std::string_view field);

  FileWindow window_;
  std::vector<std::byte> buffer_{};
  std::size_t at_ = 0;         // the next byte in the buffer
  std::uint64_t fetched_ = 0;  // bytes of the window that were fetched
};

}  // namespace cohort::interchange
