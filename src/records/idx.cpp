#include "records/idx.h"

#include "records/record_file.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
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

void to_native_order(std::string& numbers, std::size_t element_bytes) {
  if (element_bytes == 1 || std::endian::native == std::endian::big) return;
  for (auto at = numbers.begin(); at != numbers.end(); at += static_cast<std::ptrdiff_t>(element_bytes)) {
    std::reverse(at, at + static_cast<std::ptrdiff_t>(element_bytes));
  }
}

struct Header {
  DType dtype{};
  std::vector<std::uint64_t> shape{};
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

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  std::string text;
  for (std::uint64_t size : shape) text += (text.empty() ? "" : " × ") + std::to_string(size);
  return text;
}

// The bytes that the header claims, or nothing if that is more than any file may have.
std::optional<std::uint64_t> claimed_bytes(const Header& header) {
  if (std::find(header.shape.begin(), header.shape.end(), 0u) != header.shape.end()) return 0;
  std::uint64_t total = size_bytes(header.dtype);
  for (std::uint64_t size : header.shape) {
    if (total > kMaxFileBytes / size) return std::nullopt;
    total *= size;
  }
  return total;
}

}  // namespace

std::uint64_t IdxArray::count() const {
  return content.size() / size_bytes(dtype);
}

Result<IdxArray> parse_idx(std::string content, const std::string& path) {
  COHORT_ASSIGN_OR_RETURN(Header header, parse_header(content, path));
  const std::optional<std::uint64_t> promised = claimed_bytes(header);
  const std::uint64_t there = content.size() - header.size_bytes;
  if (!promised || *promised != there) {
    return corrupt(path, fmt::format("its header claims {} numbers of type {}, {} bytes; {} bytes follow",
                                     shape_text(header.shape), name(header.dtype),
                                     promised ? std::to_string(*promised) : "too many", there));
  }
  content.erase(0, header.size_bytes);
  to_native_order(content, size_bytes(header.dtype));
  return IdxArray{header.dtype, std::move(header.shape), std::move(content)};
}

Result<IdxArray> read_idx(FileSystem& fs, const std::string& path) {
  COHORT_ASSIGN_OR_RETURN(std::string content, read_record_file(fs, path));
  return parse_idx(std::move(content), path);
}

}  // namespace cohort::records
