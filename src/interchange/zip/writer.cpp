#include "interchange/zip/writer.h"

#include "base/byte_stream.h"
#include "interchange/zip/crc.h"
#include "interchange/zip/format.h"

namespace cohort::interchange {
namespace {

constexpr std::uint64_t kAlignment = 64;
constexpr std::uint16_t kVersion = 45;                 // of the format: zip64
constexpr std::uint16_t kNameIsUtf8 = 1u << 11;        // flag
constexpr std::uint16_t kDescriptorFollows = 1u << 3;  // flag
constexpr std::uint16_t kPaddingExtra = 'F' | 'B' << 8;
constexpr std::size_t kExtraHeaderBytes = 4;

bool needs_64(std::uint64_t number) {
  return number >= kIn64;
}
std::uint32_t in_32(std::uint64_t number) {
  return needs_64(number) ? kIn64 : static_cast<std::uint32_t>(number);
}

std::uint16_t flags_of(std::uint64_t size_bytes) {
  return size_bytes > 0 ? kNameIsUtf8 | kDescriptorFollows : kNameIsUtf8;
}

// The extra field with those of the numbers that need 64 bits; nothing if none does.
std::vector<std::byte> zip64_field(std::initializer_list<std::uint64_t> numbers) {
  ByteWriter field;
  for (const std::uint64_t number : numbers) {
    if (needs_64(number)) field.number(number);
  }
  const std::vector<std::byte> content = field.take();
  if (content.empty()) return {};
  ByteWriter all;
  all.number(kZip64Extra).number(static_cast<std::uint16_t>(content.size())).bytes(content);
  return all.take();
}

// Passes on what is appended, and computes its length and checksum.
class MeasuredFile final : public WritableFile {
 public:
  explicit MeasuredFile(WritableFile& file) : file_(file) {}

  Status append(std::span<const std::byte> bytes) override {
    size_bytes_ += bytes.size();
    crc_ = zip_crc(bytes, crc_);
    return file_.append(bytes);
  }
  Status sync() override { return Error(ErrorCode::kBug, "the content of a file does not sync it"); }
  Status close() override { return Error(ErrorCode::kBug, "the content of a file does not close it"); }

  std::uint64_t size_bytes() const { return size_bytes_; }
  std::uint32_t crc() const { return crc_; }

 private:
  WritableFile& file_;
  std::uint64_t size_bytes_ = 0;
  std::uint32_t crc_ = 0;
};

}  // namespace

Status ZipWriter::append(std::span<const std::byte> bytes) {
  COHORT_RETURN_IF_ERROR(file_.append(bytes));
  offset_ += bytes.size();
  return {};
}

Status ZipWriter::append_header(const Record& record) {
  std::vector<std::byte> extra = zip64_field({record.size_bytes, record.size_bytes, record.header_offset});
  const std::uint64_t end =
      offset_ + kLocalHeaderBytes + record.name.size() + extra.size() + kExtraHeaderBytes;
  const auto padding = static_cast<std::uint16_t>((kAlignment - end % kAlignment) % kAlignment);
  ByteWriter header;
  header.number(kLocalHeaderMark).number(kVersion).number(flags_of(record.size_bytes));
  header.number(std::uint16_t{0}).number(std::uint32_t{0});  // method, time
  header.number(std::uint32_t{0});                           // the checksum is in the descriptor
  const bool is_long = needs_64(record.size_bytes);
  header.number(is_long ? kIn64 : 0u).number(is_long ? kIn64 : 0u);
  header.number(static_cast<std::uint16_t>(record.name.size()));
  header.number(static_cast<std::uint16_t>(extra.size() + kExtraHeaderBytes + padding));
  header.bytes(std::as_bytes(std::span(record.name))).bytes(extra);
  header.number(kPaddingExtra).number(padding);
  header.bytes(std::vector<std::byte>(padding, std::byte{'Z'}));
  return append(header.take());
}

Status ZipWriter::append_descriptor(const Record& record) {
  if (record.size_bytes == 0) return {};
  ByteWriter descriptor;
  descriptor.number(kDescriptorMark).number(record.crc);
  if (needs_64(record.size_bytes) || needs_64(record.header_offset)) {
    descriptor.number(record.size_bytes).number(record.size_bytes);
  } else {
    descriptor.number(in_32(record.size_bytes)).number(in_32(record.size_bytes));
  }
  return append(descriptor.take());
}

Status ZipWriter::add(const std::string& name, std::uint64_t size_bytes, const WriteContent& content) {
  Record record{.name = name, .header_offset = offset_, .size_bytes = size_bytes, .crc = 0};
  COHORT_RETURN_IF_ERROR(append_header(record));
  MeasuredFile measured(file_);
  COHORT_RETURN_IF_ERROR(content(measured));
  COHORT_CHECK_EQ(measured.size_bytes(), size_bytes, "content of zip entry '{}'", name);
  offset_ += size_bytes;
  record.crc = measured.crc();
  COHORT_RETURN_IF_ERROR(append_descriptor(record));
  records_.push_back(std::move(record));
  return {};
}

Status ZipWriter::add(const std::string& name, std::span<const std::byte> bytes) {
  return add(name, bytes.size(), [bytes](WritableFile& file) { return file.append(bytes); });
}

Status ZipWriter::append_record(const Record& record) {
  const std::vector<std::byte> extra =
      zip64_field({record.size_bytes, record.size_bytes, record.header_offset});
  ByteWriter bytes;
  bytes.number(kRecordMark).number(kVersion).number(kVersion).number(flags_of(record.size_bytes));
  bytes.number(std::uint16_t{0}).number(std::uint32_t{0});  // method, time
  bytes.number(record.crc).number(in_32(record.size_bytes)).number(in_32(record.size_bytes));
  bytes.number(static_cast<std::uint16_t>(record.name.size()));
  bytes.number(static_cast<std::uint16_t>(extra.size())).number(std::uint16_t{0});   // comment
  bytes.number(std::uint16_t{0}).number(std::uint16_t{0}).number(std::uint32_t{0});  // disk, attributes
  bytes.number(in_32(record.header_offset));
  bytes.bytes(std::as_bytes(std::span(record.name))).bytes(extra);
  return append(bytes.take());
}

// A zip64 end record is always written, as torch.save() does.
Status ZipWriter::append_end(std::uint64_t directory_offset) {
  const std::uint64_t count = records_.size(), directory_bytes = offset_ - directory_offset;
  const std::uint64_t end_offset = offset_;
  constexpr std::uint64_t kRestBytes = kZip64EndBytes - sizeof kZip64EndMark - sizeof(std::uint64_t);
  ByteWriter end;
  end.number(kZip64EndMark).number(kRestBytes).number(kVersion).number(kVersion);
  end.number(std::uint32_t{0}).number(std::uint32_t{0}).number(count).number(count);
  end.number(directory_bytes).number(directory_offset);
  end.number(kZip64LocatorMark).number(std::uint32_t{0}).number(end_offset).number(std::uint32_t{1});
  const auto short_count = static_cast<std::uint16_t>(std::min<std::uint64_t>(count, kCountIn64));
  end.number(kEndMark).number(std::uint32_t{0}).number(short_count).number(short_count);
  end.number(in_32(directory_bytes)).number(in_32(directory_offset)).number(std::uint16_t{0});
  return append(end.take());
}

Status ZipWriter::finish() {
  const std::uint64_t directory_offset = offset_;
  for (const Record& record : records_) COHORT_RETURN_IF_ERROR(append_record(record));
  return append_end(directory_offset);
}

}  // namespace cohort::interchange
