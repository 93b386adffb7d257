#include "interchange/zip/archive.h"

#include "base/byte_stream.h"
#include "interchange/input/printable.h"
#include "interchange/zip/crc.h"
#include "interchange/zip/directory.h"
#include "interchange/zip/format.h"

#include <algorithm>

namespace cohort::interchange {
namespace {

constexpr std::size_t kCheckBytes = std::size_t{1} << 20;

// The offset of the data of an entry: behind its local header, name and extra fields.
Result<std::uint64_t> data_offset(const FileWindow& file, const ZipRecord& record) {
  std::array<std::byte, kLocalHeaderBytes> bytes{};
  COHORT_RETURN_IF_ERROR(file.read(record.header_offset, bytes));
  constexpr std::size_t kMethodAt = 8, kNameLengthAt = 26, kExtraLengthAt = 28;
  const auto name_bytes = get_at<std::uint16_t>(bytes, kNameLengthAt);
  if (get_at<std::uint32_t>(bytes, 0) != kLocalHeaderMark || get_at<std::uint16_t>(bytes, kMethodAt) != 0 ||
      name_bytes != record.name.size()) {
    return Error(ErrorCode::kCorrupt, fmt::format("expected its local header at byte {}, found other bytes",
                                                  file.place(record.header_offset)));
  }
  std::string name(name_bytes, ' ');
  COHORT_RETURN_IF_ERROR(
      file.read(record.header_offset + kLocalHeaderBytes, std::as_writable_bytes(std::span(name))));
  if (name != record.name) {
    return Error(ErrorCode::kCorrupt, fmt::format("its local header at byte {} has the name '{}'",
                                                  file.place(record.header_offset), printable(name)));
  }
  return record.header_offset + kLocalHeaderBytes + name_bytes + get_at<std::uint16_t>(bytes, kExtraLengthAt);
}

// The entry, if its data lie between its header and `end`.
Result<ZipEntry> entry_of(const FileWindow& file, const ZipRecord& record, std::uint64_t end) {
  const auto read = [&]() -> Result<ZipEntry> {
    COHORT_ASSIGN_OR_RETURN(const std::uint64_t offset, data_offset(file, record));
    if (offset > end || record.size_bytes > end - offset) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("its {} bytes from byte {} on overlap what begins at byte {}",
                               record.size_bytes, file.place(offset), file.place(end)));
    }
    COHORT_ASSIGN_OR_RETURN(const FileWindow data, file.part(offset, record.size_bytes));
    return ZipEntry{.name = record.name, .data = data, .crc = record.crc};
  };
  return read().within(fmt::format("zip entry '{}' cannot be read", printable(record.name)));
}

}  // namespace

Result<bool> ZipArchive::is_zip(const FileWindow& file) {
  std::array<std::byte, sizeof kLocalHeaderMark> mark{};
  if (file.size_bytes() < mark.size()) return false;
  COHORT_RETURN_IF_ERROR(file.read(0, mark));
  return get_at<std::uint32_t>(mark, 0) == kLocalHeaderMark;
}

Result<ZipArchive> ZipArchive::open(const FileWindow& file) {
  COHORT_ASSIGN_OR_RETURN(ZipDirectory directory, read_zip_directory(file));
  auto& records = directory.records;
  std::sort(records.begin(), records.end(),
            [](const auto& a, const auto& b) { return a.header_offset < b.header_offset; });
  ZipArchive archive;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::uint64_t end = i + 1 < records.size() ? records[i + 1].header_offset : directory.offset;
    COHORT_ASSIGN_OR_RETURN(ZipEntry entry, entry_of(file, records[i], end));
    archive.index_.emplace(entry.name, archive.entries_.size());
    archive.entries_.push_back(std::move(entry));
  }
  return archive;
}

const ZipEntry* ZipArchive::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &entries_[found->second];
}

bool ZipArchive::has_checksums() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const ZipEntry& entry) { return entry.crc != 0; });
}

Status expect_crc(const ZipEntry& entry, std::uint32_t found) {
  if (found == entry.crc) return {};
  return Error(ErrorCode::kCorrupt, fmt::format("zip entry '{}' has the checksum {:#010x}, expected {:#010x}",
                                                printable(entry.name), found, entry.crc))
      .with_remedy("Copy the file again: its bytes were changed.");
}

Status check_crc(const ZipEntry& entry) {
  std::uint32_t crc = 0;
  std::vector<std::byte> buffer(std::min<std::uint64_t>(kCheckBytes, entry.data.size_bytes()));
  for (std::uint64_t at = 0; at < entry.data.size_bytes(); at += buffer.size()) {
    const auto piece =
        std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), entry.data.size_bytes() - at));
    COHORT_RETURN_IF_ERROR(entry.data.read(at, piece));
    crc = zip_crc(piece, crc);
  }
  return expect_crc(entry, crc);
}

}  // namespace cohort::interchange
