#pragma once

#include "storage/file_system.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace cohort::interchange {

/// A part of a file, read as if it were a file of its own.
///
/// Threads: every method from any thread, concurrently.
/// Lifetime: the file must outlive it.
class FileWindow {
 public:
  /// The whole file, as long as it is now.
  static Result<FileWindow> whole(ReadableFile& file);

  /// `size_bytes` bytes of this window from `offset` on.
  ///
  /// Failure: kCorrupt if they are not inside the window.
  Result<FileWindow> part(std::uint64_t offset, std::uint64_t size_bytes) const;

  std::uint64_t size_bytes() const { return size_bytes_; }
  /// The place in the file of the byte at `offset` in the window, for error messages.
  std::uint64_t place(std::uint64_t offset) const { return begin_ + offset; }

  /// Fills `into` with the bytes from `offset` on.
  ///
  /// Failure: kCorrupt if they are not inside the window, or if the file became shorter; else as
  /// ReadableFile.
  Status read(std::uint64_t offset, std::span<std::byte> into) const;

 private:
  FileWindow(ReadableFile& file, std::uint64_t begin, std::uint64_t size_bytes)
      : file_(&file), begin_(begin), size_bytes_(size_bytes) {}

  ReadableFile* file_;
  std::uint64_t begin_;
  std::uint64_t size_bytes_;
};

}  // namespace cohort::interchange
