#include "interchange/zip/directory.h"

#include "base/byte_stream.h"
#include "interchange/input/printable.h"
#include "interchange/zip/end_record.h"
#include "interchange/zip/format.h"

#include <set>

namespace cohort::interchange {
namespace {

constexpr std::uint64_t kMostDirectoryBytes = std::uint64_t{256} << 20;
constexpr std::size_t kMostNameBytes = 4096;
constexpr std::uint16_t kIsEncrypted = 1;

Error bad_entry(const std::string& name, std::string_view why) {
  return Error(ErrorCode::kCorrupt, fmt::format("zip entry '{}' {}", printable(name), why));
}

// Nothing is ever unpacked under such a name, but a file that has one was made to do harm.
bool leads_out(std::string_view name) {
  if (name.find_first_of(std::string_view("\\\0", 2)) != std::string_view::npos) return true;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return true;
    begin = end + 1;
  }
  return false;
}

// The numbers of a record as they stand there, before zip64.
struct RawRecord {
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed_bytes = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t header_offset = 0;
  std::uint16_t name_bytes = 0;
  std::uint16_t extra_bytes = 0;
  std::uint16_t comment_bytes = 0;
};

RawRecord raw_record(ByteReader& reader) {
  RawRecord raw;
  (void)reader.number_within<std::uint32_t>("mark", kRecordMark, kRecordMark);
  (void)reader.number<std::uint32_t>("versions");
  raw.flags = reader.number<std::uint16_t>("flags");
  raw.method = reader.number<std::uint16_t>("method");
  (void)reader.number<std::uint32_t>("time");
  raw.crc = reader.number<std::uint32_t>("checksum");
  raw.packed_bytes = reader.number<std::uint32_t>("packed size");
  raw.size_bytes = reader.number<std::uint32_t>("size");
  raw.name_bytes = reader.number_within<std::uint16_t>("length of the name", 1, kMostNameBytes);
  raw.extra_bytes = reader.number<std::uint16_t>("length of the extra fields");
  raw.comment_bytes = reader.number<std::uint16_t>("length of the comment");
  (void)reader.number_within<std::uint16_t>("disk", 0, 0);
  (void)reader.number<std::uint16_t>("internal attributes");
  (void)reader.number<std::uint32_t>("external attributes");
  raw.header_offset = reader.number<std::uint32_t>("offset");
  return raw;
}

// Replaces the numbers that stand in the zip64 field.
Status take_zip64(RawRecord& raw, std::span<const std::byte> extra) {
  ByteReader fields(extra);
  while (fields.is_fine() && !fields.is_at_end()) {
    const auto id = fields.number<std::uint16_t>("id of an extra field");
    const auto length = fields.number<std::uint16_t>("length of an extra field");
    if (length > fields.rest().size()) return Error(ErrorCode::kCorrupt, "corrupt extra field: cut off");
    ByteReader field(fields.rest().first(length));
    fields = ByteReader(fields.rest().subspan(length));
    if (id != kZip64Extra) continue;
    for (std::uint64_t* number : {&raw.size_bytes, &raw.packed_bytes, &raw.header_offset}) {
      if (*number == kIn64) *number = field.number<std::uint64_t>("number of 64 bits");
    }
    return field.mistake("zip64 field");
  }
  return fields.mistake("extra field");
}

Status check_record(const std::string& name, const RawRecord& raw) {
  if (leads_out(name)) return bad_entry(name, "has a name that leads out of its folder");
  if ((raw.flags & kIsEncrypted) != 0) {
    return Error(ErrorCode::kUnsupported, fmt::format("zip entry '{}' is encrypted", printable(name)));
  }
  if (raw.method != 0) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("zip entry '{}' is compressed by method {}, expected 0 (stored)",
                             printable(name), raw.method))
        .with_remedy(
            "Save tensors in Python with torch.save(), which does not compress. Archives of TorchScript "
            "are not read.");
  }
  if (raw.packed_bytes == raw.size_bytes) return {};
  return bad_entry(name, fmt::format("has {} bytes that are stored as {}, expected equal numbers",
                                     raw.size_bytes, raw.packed_bytes));
}

// Cuts `count` bytes off the front of what a reader has left.
Result<std::span<const std::byte>> cut(ByteReader& reader, std::size_t count, std::string_view field) {
  const auto rest = reader.rest();
  if (rest.size() < count) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("corrupt record of a zip file: field {} is cut off after {} "
                             "bytes, expected {}",
                             field, rest.size(), count));
  }
  reader = ByteReader(rest.subspan(count));
  return rest.first(count);
}

Result<ZipRecord> next_record(ByteReader& reader) {
  RawRecord raw = raw_record(reader);
  COHORT_RETURN_IF_ERROR(reader.mistake("record of a zip file"));
  COHORT_ASSIGN_OR_RETURN(const auto name_bytes, cut(reader, raw.name_bytes, "name"));
  COHORT_ASSIGN_OR_RETURN(const auto extra, cut(reader, raw.extra_bytes, "extra fields"));
  COHORT_RETURN_IF_ERROR(cut(reader, raw.comment_bytes, "comment"));
  const std::string name(reinterpret_cast<const char*>(name_bytes.data()), name_bytes.size());
  COHORT_RETURN_IF_ERROR(
      take_zip64(raw, extra).within(fmt::format("zip entry '{}' cannot be read", printable(name))));
  COHORT_RETURN_IF_ERROR(check_record(name, raw));
  return ZipRecord{
      .name = name, .header_offset = raw.header_offset, .size_bytes = raw.size_bytes, .crc = raw.crc};
}

}  // namespace

Result<ZipDirectory> read_zip_directory(const FileWindow& file) {
  COHORT_ASSIGN_OR_RETURN(const ZipEnd end, find_zip_end(file));
  if (end.size_bytes > kMostDirectoryBytes || end.num_records > end.size_bytes / kRecordBytes) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("its directory claims {} entries in {} bytes, at most {} are read",
                             end.num_records, end.size_bytes, kMostDirectoryBytes));
  }
  std::vector<std::byte> bytes(end.size_bytes);
  COHORT_RETURN_IF_ERROR(file.read(end.offset, bytes));
  ByteReader reader(bytes);
  ZipDirectory directory{.records = {}, .offset = end.offset};
  std::set<std::string> names;
  for (std::uint64_t i = 0; i < end.num_records; ++i) {
    COHORT_ASSIGN_OR_RETURN(ZipRecord record, next_record(reader));
    if (!names.insert(record.name).second) return bad_entry(record.name, "occurs twice");
    directory.records.push_back(std::move(record));
  }
  COHORT_RETURN_IF_ERROR(reader.finish("directory of a zip file"));
  return directory;
}

}  // namespace cohort::interchange
