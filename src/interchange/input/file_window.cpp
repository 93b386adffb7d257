#include "interchange/input/file_window.h"

#include <fmt/format.h>

namespace cohort::interchange {

Result<FileWindow> FileWindow::whole(ReadableFile& file) {
  COHORT_ASSIGN_OR_RETURN(const std::uint64_t size_bytes, file.size_bytes());
  return FileWindow(file, 0, size_bytes);
}

Result<FileWindow> FileWindow::part(std::uint64_t offset, std::uint64_t size_bytes) const {
  if (offset <= size_bytes_ && size_bytes <= size_bytes_ - offset) {
    return FileWindow(*file_, begin_ + offset, size_bytes);
  }
  return Error(ErrorCode::kCorrupt, fmt::format("expected {} bytes from byte {} on, found {} bytes in all",
                                                size_bytes, place(offset), place(size_bytes_)));
}

Status FileWindow::read(std::uint64_t offset, std::span<std::byte> into) const {
  COHORT_RETURN_IF_ERROR(part(offset, into.size()));
  COHORT_ASSIGN_OR_RETURN(const std::size_t count, file_->read_at(begin_ + offset, into));
  if (count == into.size()) return {};
  return Error(ErrorCode::kCorrupt,
               fmt::format("expected {} bytes from byte {} on, found {}: the file became "
                           "shorter while it was read",
                           into.size(), place(offset), count));
}

}  // namespace cohort::interchange
