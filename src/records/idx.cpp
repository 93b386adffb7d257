#include "records/idx.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <optional>

namespace cohort::records {
namespace {

constexpr std::size_t kMaxDims = 8;

Error corrupt(const std::string& path, std::string_view what) {
  return Error(ErrorCode::kCorrupt, fmt::format("'{}' is not a valid IDX file: {}", path, what))
      .with_remedy("Check that this is the file you meant, or get it again.");
}

std::optional<DType> dtype_of_code(unsigned char code) {
  switch (code) {
    case 0x08:
      return DType::kU8;
    case 0x09:
      return DType::kI8;
    case 0x0B:
      return DType::kI16;
    case 0x0C:
      return DType::kI32;
    case 0x0D:
      return DType::kF32;
    case 0x0E:
      return DType::kF64;
    default:
      return std::nullopt;
  }
}

std::uint64_t big_endian_u32(std::string_view bytes) {
  std::uint64_t value = 0;
  for (char c : bytes.substr(0, 4)) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

struct Header {
  DType dtype{};
  Shape shape{};
  std::size_t size_bytes = 0;
};

Result<Header> parse_header(std::string_view content, const std::string& path) {
  if (content.size() < 4) {
    return corrupt(path, fmt::format("it ends after {} bytes, within the magic number", content.size()));
  }
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(content[i]); };
  const std::optional<DType> dtype = dtype_of_code(byte(2));
  if (byte(0) != 0 || byte(1) != 0 || !dtype) {
    return corrupt(
        path, fmt::format("it begins with {:02x} {:02x} {:02x} {:02x}, not with an IDX magic number", byte(0),
                          byte(1), byte(2), byte(3)));
  }
  const std::size_t num_dims = byte(3);
  if (num_dims == 0 || num_dims > kMaxDims) {
    return corrupt(path, fmt::format("it claims {} dims; 1 to {} are possible", num_dims, kMaxDims));
  }
  Header header{*dtype, {}, 4 + 4 * num_dims};
  if (content.size() < header.size_bytes) {
    return corrupt(path, fmt::format("it ends after {} bytes, within the sizes of its {} dims",
                                     content.size(), num_dims));
  }
  for (std::size_t dim = 0; dim < num_dims; ++dim) {
    header.shape.push_back(big_endian_u32(content.substr(4 + 4 * dim)));
  }
  return header;
}

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const std::size_t size : shape) text += (text.empty() ? "" : " × ") + std::to_string(size);
  return text;
}

// The bytes that the header claims, or nothing if that is more than any file may have.
std::optional<std::uint64_t> claimed_bytes(const Header& header) {
  if (std::find(header.shape.begin(), header.shape.end(), 0u) != header.shape.end()) return 0;
  std::uint64_t total = size_bytes(header.dtype);
  for (const std::uint64_t size : header.shape) {
    if (total > std::numeric_limits<std::uint64_t>::max() / size) return std::nullopt;
    total *= size;
  }
  return total;
}

Result<Header> read_header(const FileBytes& bytes) {
  std::array<char, 4 + 4 * kMaxDims> content{};
  const std::size_t count = std::min<std::uint64_t>(content.size(), bytes.size_bytes());
  COHORT_RETURN_IF_ERROR(bytes.read(0, std::as_writable_bytes(std::span(content)).first(count)));
  return parse_header({content.data(), count}, bytes.path());
}

}  // namespace

Result<Rows> open_idx(std::shared_ptr<const FileBytes> bytes) {
  COHORT_ASSIGN_OR_RETURN(const Header header, read_header(*bytes));
  const std::optional<std::uint64_t> promised = claimed_bytes(header);
  const std::uint64_t there = bytes->size_bytes() - header.size_bytes;
  if (!promised || *promised != there) {
    return corrupt(bytes->path(),
                   fmt::format("its header claims {} numbers of type {}, {} bytes; {} bytes follow",
                               shape_text(header.shape), name(header.dtype),
                               promised ? std::to_string(*promised) : "too many", there));
  }
  const std::uint64_t count = header.shape.front();
  return Rows(header.dtype, Shape(header.shape.begin() + 1, header.shape.end()), ByteOrder::kBigEndian,
              {{.bytes = std::move(bytes),
                .first_byte = header.size_bytes,
                .distance_bytes = count == 0 ? 0 : there / count,
                .count = count}});
}

Result<Rows> open_idx(FileSystem& fs, const std::string& path) {
  COHORT_ASSIGN_OR_RETURN(std::shared_ptr<const FileBytes> bytes, open_file_bytes(fs, path));
  return open_idx(std::move(bytes));
}

}  // namespace cohort::records
