#include "storage/whole_file.h"

#include "base/checksum.h"
#include "base/units.h"
#include "storage/path.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort {
namespace {

constexpr std::uint64_t kFirstPieceBytes = 4096;

Error too_large(const std::string& path, std::uint64_t max_bytes) {
  return Error(ErrorCode::kUsage, fmt::format("cannot read '{}': the file is larger than the limit of {}",
                                              path, format_bytes(max_bytes)))
      .with_remedy("Check that the path names the right file.");
}

// An existing entry, left by a crash or planted as a symbolic link, is removed. Writing through a link would
// change a file elsewhere.
Result<std::unique_ptr<WritableFile>> create_instead_of(FileSystem& fs, const std::string& path) {
  Result<std::unique_ptr<WritableFile>> file = fs.create_new(path);
  if (file || file.error().code() != ErrorCode::kAlreadyExists) return file;
  COHORT_RETURN_IF_ERROR(fs.remove(path));
  return fs.create_new(path);
}

Status write_and_sync(FileSystem& fs, const std::string& path, const WriteContent& content) {
  COHORT_ASSIGN_OR_RETURN(const auto file, create_instead_of(fs, path));
  Status written = content(*file);
  if (written) written = file->sync();
  if (written) written = file->close();
  return written;
}

// A long name has no room for the affixes within the 255 bytes of a file name, so its hash is used instead.
std::string temporary_name(const std::string& name) {
  constexpr std::size_t kLongest = 200;
  if (name.size() <= kLongest) return fmt::format(".{}.tmp", name);
  return fmt::format(".{:016x}.tmp", content_hash(std::as_bytes(std::span(name))));
}

Status replace(FileSystem& fs, const std::string& temporary, const std::string& path,
               const WriteContent& content) {
  Status done = write_and_sync(fs, temporary, content);
  if (done) done = fs.rename(temporary, path);
  if (!done) {
    // The first error is returned. A temporary file that cannot be removed is replaced by the next write.
    (void)fs.remove(temporary);
    return done;
  }
  return fs.sync_directory(storage::directory_of(path));
}

}  // namespace

Result<std::string> read_file(FileSystem& fs, const std::string& path, std::uint64_t max_bytes) {
  COHORT_ASSIGN_OR_RETURN(const auto file, fs.open_read(path));
  COHORT_ASSIGN_OR_RETURN(const std::uint64_t reported_bytes, file->size_bytes());
  if (reported_bytes > max_bytes) return too_large(path, max_bytes);
  std::string content;
  // One byte more than the reported size, so that reading an ordinary file ends with the first piece.
  std::uint64_t piece_bytes = std::max(reported_bytes + 1, kFirstPieceBytes);
  while (true) {
    const std::size_t done = content.size();
    content.resize(done + piece_bytes);
    const auto piece = std::as_writable_bytes(std::span(content)).subspan(done);
    COHORT_ASSIGN_OR_RETURN(const std::size_t count, file->read_at(done, piece));
    content.resize(done + count);
    if (content.size() > max_bytes) return too_large(path, max_bytes);
    if (count < piece_bytes) return content;
    piece_bytes = content.size();
  }
}

Status write_file_atomically(FileSystem& fs, const std::string& path, std::span<const std::byte> bytes) {
  return write_file_atomically(fs, path, [&](WritableFile& file) { return file.append(bytes); });
}

Status write_file_atomically(FileSystem& fs, const std::string& path, const WriteContent& content) {
  return replace(fs, storage::temporary_of(path), path, content)
      .within(fmt::format("cannot write '{}'", path));
}

std::string storage::temporary_of(const std::string& path) {
  return joined(directory_of(path), temporary_name(name_of(path)));
}

}  // namespace cohort
