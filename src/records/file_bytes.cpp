#include "records/file_bytes.h"

#include "records/record_file.h"

#include <array>
#include <cstring>
#include <fmt/format.h>

namespace cohort::records {
namespace {

Error ends_early(const std::string& path, std::uint64_t size, std::uint64_t wanted) {
  return Error(ErrorCode::kCorrupt,
               fmt::format("'{}' ends after {} bytes, expected {} or more", path, size, wanted))
      .with_remedy("Check that no other program writes to the file, or get it again.");
}

class BytesOnDisk final : public FileBytes {
 public:
  BytesOnDisk(std::unique_ptr<ReadableFile> file, std::string path, std::uint64_t size_bytes)
      : file_(std::move(file)), path_(std::move(path)), size_bytes_(size_bytes) {}

  std::uint64_t size_bytes() const override { return size_bytes_; }
  const std::string& path() const override { return path_; }

  Status read(std::uint64_t first, std::span<std::byte> into) const override {
    COHORT_ASSIGN_OR_RETURN(const std::size_t count, file_->read_at(first, into));
    if (count < into.size()) return ends_early(path_, first + count, first + into.size());
    return {};
  }

 private:
  const std::unique_ptr<ReadableFile> file_;
  const std::string path_;
  const std::uint64_t size_bytes_;
};

class BytesInMemory final : public FileBytes {
 public:
  BytesInMemory(std::string content, std::string path)
      : content_(std::move(content)), path_(std::move(path)) {}

  std::uint64_t size_bytes() const override { return content_.size(); }
  const std::string& path() const override { return path_; }

  Status read(std::uint64_t first, std::span<std::byte> into) const override {
    if (first > content_.size() || into.size() > content_.size() - first) {
      return ends_early(path_, content_.size(), first + into.size());
    }
    if (!into.empty()) std::memcpy(into.data(), content_.data() + first, into.size());
    return {};
  }

 private:
  const std::string content_;
  const std::string path_;
};

}  // namespace

Result<std::shared_ptr<const FileBytes>> open_file_bytes(FileSystem& fs, const std::string& path) {
  COHORT_ASSIGN_OR_RETURN(std::unique_ptr<ReadableFile> file, fs.open_read(path));
  std::array<std::byte, 2> magic{};
  COHORT_ASSIGN_OR_RETURN(const std::size_t count, file->read_at(0, magic));
  const bool is_packed =
      count == magic.size() && is_gzip({reinterpret_cast<const char*>(magic.data()), count});
  if (is_packed || path.ends_with(".gz")) {
    COHORT_ASSIGN_OR_RETURN(std::string content, read_record_file(fs, path));
    return bytes_in_memory(std::move(content), path);
  }
  COHORT_ASSIGN_OR_RETURN(const std::uint64_t size_bytes, file->size_bytes());
  return std::make_shared<const BytesOnDisk>(std::move(file), path, size_bytes);
}

std::shared_ptr<const FileBytes> bytes_in_memory(std::string content, std::string path) {
  return std::make_shared<const BytesInMemory>(std::move(content), std::move(path));
}

}  // namespace cohort::records
