#include "interchange/zip/end_record.h"

#include "base/byte_stream.h"
#include "interchange/zip/format.h"

#include <algorithm>
#include <optional>

namespace cohort::interchange {
namespace {

constexpr std::uint64_t kMostCommentBytes = 0xffff;

Error no_end(std::string_view why) {
  return Error(ErrorCode::kCorrupt, fmt::format("it is no whole zip file: {}", why))
      .with_remedy("Copy the file again: its end is missing or damaged.");
}

// The offset of the end record: the last one whose comment reaches to the end of the file.
Result<std::uint64_t> find_end_offset(const FileWindow& file) {
  const std::uint64_t length = std::min(file.size_bytes(), kEndBytes + kMostCommentBytes);
  std::vector<std::byte> tail(length);
  const std::uint64_t begin = file.size_bytes() - length;
  COHORT_RETURN_IF_ERROR(file.read(begin, tail));
  for (std::size_t at = length < kEndBytes ? 0 : length - kEndBytes + 1; at-- > 0;) {
    if (get_at<std::uint32_t>(tail, at) != kEndMark) continue;
    const auto comment_bytes = get_at<std::uint16_t>(tail, at + kEndBytes - sizeof(std::uint16_t));
    if (at + kEndBytes + comment_bytes == length) return begin + at;
  }
  return no_end("expected an end record, found none");
}

Result<ZipEnd> short_end(const FileWindow& file, std::uint64_t offset) {
  std::array<std::byte, kEndBytes> bytes{};
  COHORT_RETURN_IF_ERROR(file.read(offset, bytes));
  ByteReader reader(std::span<const std::byte>(bytes).subspan(sizeof kEndMark));
  (void)reader.number_within<std::uint16_t>("disk", 0, 0);
  (void)reader.number_within<std::uint16_t>("disk of the directory", 0, 0);
  (void)reader.number<std::uint16_t>("records on this disk");
  ZipEnd end;
  end.num_records = reader.number<std::uint16_t>("records");
  end.size_bytes = reader.number<std::uint32_t>("size of the directory");
  end.offset = reader.number<std::uint32_t>("offset of the directory");
  COHORT_RETURN_IF_ERROR(reader.mistake("end record of a zip file"));
  return end;
}

// The offset of the zip64 end record, which the locator before the end record gives; nothing without a
// locator.
Result<std::optional<std::uint64_t>> zip64_offset(const FileWindow& file, std::uint64_t end_offset) {
  if (end_offset < kZip64LocatorBytes) return std::nullopt;
  std::array<std::byte, kZip64LocatorBytes> bytes{};
  COHORT_RETURN_IF_ERROR(file.read(end_offset - kZip64LocatorBytes, bytes));
  if (get_at<std::uint32_t>(bytes, 0) != kZip64LocatorMark) return std::nullopt;
  return get_at<std::uint64_t>(bytes, sizeof kZip64LocatorMark + sizeof(std::uint32_t));
}

Result<ZipEnd> long_end(const FileWindow& file, std::uint64_t offset) {
  std::array<std::byte, kZip64EndBytes> bytes{};
  COHORT_RETURN_IF_ERROR(file.read(offset, bytes));
  ByteReader reader(bytes);
  (void)reader.number_within<std::uint32_t>("mark", kZip64EndMark, kZip64EndMark);
  (void)reader.number<std::uint64_t>("size");
  (void)reader.number<std::uint32_t>("versions");
  (void)reader.number_within<std::uint32_t>("disk", 0, 0);
  (void)reader.number_within<std::uint32_t>("disk of the directory", 0, 0);
  (void)reader.number<std::uint64_t>("records on this disk");
  ZipEnd end;
  end.num_records = reader.number<std::uint64_t>("records");
  end.size_bytes = reader.number<std::uint64_t>("size of the directory");
  end.offset = reader.number<std::uint64_t>("offset of the directory");
  COHORT_RETURN_IF_ERROR(reader.finish("zip64 end record"));
  return end;
}

}  // namespace

Result<ZipEnd> find_zip_end(const FileWindow& file) {
  COHORT_ASSIGN_OR_RETURN(const std::uint64_t end_offset, find_end_offset(file));
  COHORT_ASSIGN_OR_RETURN(const auto offset64, zip64_offset(file, end_offset));
  COHORT_ASSIGN_OR_RETURN(const ZipEnd end,
                          offset64 ? long_end(file, *offset64) : short_end(file, end_offset));
  if (end.offset > end_offset || end.size_bytes > end_offset - end.offset) {
    return no_end(fmt::format("its directory has {} bytes from byte {} on, expected an end before byte {}",
                              end.size_bytes, end.offset, end_offset));
  }
  return end;
}

}  // namespace cohort::interchange
