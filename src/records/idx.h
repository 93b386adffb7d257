#pragma once

#include <cohort/dtype.h>

#include "storage/file_system.h"

#include <span>

namespace cohort::records {

/// An array in the IDX format, the format of the MNIST files.
///
///     0, 0, type, number of dims │ one big-endian u32 per dim │ big-endian numbers, last dim fastest
///     type: 08 u8, 09 i8, 0B i16, 0C i32, 0D f32, 0E f64
struct IdxArray {
  DType dtype = DType::kU8;
  std::vector<std::uint64_t> shape{};
  std::string content{};  ///< the numbers, in this machine's byte order

  std::uint64_t count() const;  ///< number of elements
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(content)); }
};

/// Failure: kCorrupt, naming `path` and the part of the file, if a byte is missing, wrong or too many.
/// Cost: the sizes in the header allocate no memory; the content is not copied.
Result<IdxArray> parse_idx(std::string content, const std::string& path);

/// The same for a file, compressed with gzip or not.
Result<IdxArray> read_idx(FileSystem& fs, const std::string& path);

}  // namespace cohort::records
