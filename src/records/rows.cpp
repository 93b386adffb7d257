#include "records/rows.h"

#include "base/check.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace cohort::records {
namespace {

void turn(std::span<std::byte> numbers, std::size_t number_bytes) {
  for (std::size_t at = 0; at < numbers.size(); at += number_bytes) {
    const auto number = numbers.subspan(at, number_bytes);
    std::reverse(number.begin(), number.end());
  }
}

bool is_native(ByteOrder order) {
  return (order == ByteOrder::kLittleEndian) == (std::endian::native == std::endian::little);
}

template <class From, class To>
void convert(std::span<const std::byte> numbers, To* to) {
  for (std::size_t at = 0; at < numbers.size(); at += sizeof(From)) {
    From number;
    std::memcpy(&number, numbers.data() + at, sizeof number);
    *to++ = static_cast<To>(number);
  }
}

// False if the type is not one of whole numbers.
template <class To>
bool convert_whole(DType dtype, std::span<const std::byte> numbers, To* to) {
  switch (dtype) {
    case DType::kU8:
    case DType::kBool:
      convert<std::uint8_t>(numbers, to);
      return true;
    case DType::kI8:
      convert<std::int8_t>(numbers, to);
      return true;
    case DType::kI16:
      convert<std::int16_t>(numbers, to);
      return true;
    case DType::kI32:
      convert<std::int32_t>(numbers, to);
      return true;
    case DType::kI64:
      convert<std::int64_t>(numbers, to);
      return true;
    default:
      return false;
  }
}

}  // namespace

Rows::Rows(DType dtype, Shape shape, ByteOrder order, std::vector<RowsOfFile> files)
    : dtype_(dtype), shape_(std::move(shape)), numbers_per_row_(1), order_(order), files_(std::move(files)) {
  for (const std::size_t length : shape_) numbers_per_row_ *= length;
  for (const RowsOfFile& file : files_) {
    firsts_.push_back(size_);
    size_ += file.count;
  }
}

Status Rows::read(std::uint64_t first, std::span<std::byte> into) const {
  const std::size_t bytes_per_row = row_bytes();
  if (into.empty()) return {};
  COHORT_CHECK(into.size() % bytes_per_row == 0 && first + into.size() / bytes_per_row <= size_,
               "{} bytes from row {} on of {}", into.size(), first, size_);
  while (!into.empty()) {
    const auto next = std::upper_bound(firsts_.begin(), firsts_.end(), first);
    const auto f = static_cast<std::size_t>(next - firsts_.begin()) - 1;
    const std::uint64_t in_file = first - firsts_[f];
    const std::uint64_t count =
        std::min<std::uint64_t>(into.size() / bytes_per_row, files_[f].count - in_file);
    const auto part = into.first(static_cast<std::size_t>(count) * bytes_per_row);
    COHORT_RETURN_IF_ERROR(read_from(files_[f], in_file, part));
    into = into.subspan(part.size());
    first += count;
  }
  return {};
}

Status Rows::read_from(const RowsOfFile& file, std::uint64_t first, std::span<std::byte> into) const {
  const std::uint64_t begin = file.first_byte + first * file.distance_bytes;
  if (file.distance_bytes == row_bytes()) {
    COHORT_RETURN_IF_ERROR(file.bytes->read(begin, into));
  } else {
    COHORT_RETURN_IF_ERROR(pick(file, begin, into));
  }
  const std::size_t number_bytes = cohort::size_bytes(dtype_);
  if (number_bytes > 1 && !is_native(order_)) turn(into, number_bytes);
  return {};
}

// One read for many rows, with the bytes between them.
Status Rows::pick(const RowsOfFile& file, std::uint64_t begin, std::span<std::byte> into) const {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  const std::size_t bytes_per_row = row_bytes();
  const auto distance = static_cast<std::size_t>(file.distance_bytes);
  const std::size_t most = std::max<std::size_t>(1, kMostBytes / distance);
  std::vector<std::byte> block;
  while (!into.empty()) {
    const std::size_t count = std::min(into.size() / bytes_per_row, most);
    block.resize((count - 1) * distance + bytes_per_row);
    COHORT_RETURN_IF_ERROR(file.bytes->read(begin, block));
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(into.data() + i * bytes_per_row, block.data() + i * distance, bytes_per_row);
    }
    into = into.subspan(count * bytes_per_row);
    begin += count * distance;
  }
  return {};
}

void floats(DType dtype, std::span<const std::byte> numbers, float* to) {
  if (convert_whole(dtype, numbers, to)) return;
  if (dtype == DType::kF32) return convert<float>(numbers, to);
  COHORT_CHECK(dtype == DType::kF64, "rows of {}", name(dtype));
  convert<double>(numbers, to);
}

void whole_numbers(DType dtype, std::span<const std::byte> numbers, std::int64_t* to) {
  COHORT_CHECK(convert_whole(dtype, numbers, to), "rows of {}", name(dtype));
}

}  // namespace cohort::records
