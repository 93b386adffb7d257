#pragma once

#include "records/file_bytes.h"
#include <cohort/dtype.h>
#include <cohort/slice.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cohort::records {

enum class ByteOrder { kLittleEndian, kBigEndian };

/// Rows in a file, at equal distances.
struct RowsOfFile {
  std::shared_ptr<const FileBytes> bytes{};
  std::uint64_t first_byte = 0;      ///< of the first row
  std::uint64_t distance_bytes = 0;  ///< from the beginning of a row to that of the next
  std::uint64_t count = 0;
};

/// Rows of numbers in files, such as images: all of one shape and type. They are read when they are asked
/// for.
///
///     file 1   header │ row 0 │ row 1 │ row 2
///     file 2   label │ row 3 │ label │ row 4        with a distance of a label and a row
///
/// Threads: any number of threads may read.
/// Lifetime: must not outlive the FileSystem.
/// Failure: as FileBytes.
/// Cost: one read of the file in a call for rows that lie together.
class Rows {
 public:
  Rows() = default;
  /// `files` hold the rows in their order.
  Rows(DType dtype, Shape shape, ByteOrder order, std::vector<RowsOfFile> files);

  DType dtype() const { return dtype_; }
  /// The shape of a row.
  const Shape& shape() const { return shape_; }
  std::size_t numbers_per_row() const { return numbers_per_row_; }
  std::size_t row_bytes() const { return numbers_per_row_ * cohort::size_bytes(dtype_); }
  std::uint64_t size() const { return size_; }

  /// Reads rows from `first` on, as many as `into` has room for, in the byte order of this machine.
  Status read(std::uint64_t first, std::span<std::byte> into) const;

 private:
  Status read_from(const RowsOfFile& file, std::uint64_t first, std::span<std::byte> into) const;
  Status pick(const RowsOfFile& file, std::uint64_t begin, std::span<std::byte> into) const;

  DType dtype_ = DType::kU8;
  Shape shape_{};
  std::size_t numbers_per_row_ = 0;
  ByteOrder order_ = ByteOrder::kLittleEndian;
  std::vector<RowsOfFile> files_{};
  std::vector<std::uint64_t> firsts_{};  // per file: the number of its first row
  std::uint64_t size_ = 0;
};

/// The numbers of rows, as f32.
void floats(DType dtype, std::span<const std::byte> numbers, float* to);
/// The same for whole numbers, as i64.
void whole_numbers(DType dtype, std::span<const std::byte> numbers, std::int64_t* to);

}  // namespace cohort::records
