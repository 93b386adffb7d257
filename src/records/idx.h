#pragma once

#include "records/rows.h"

namespace cohort::records {

/// Opens an array in the IDX format, the format of the MNIST files. Its rows are the numbers under each index
/// of the first dim.
///
///     0, 0, type, number of dims │ one big-endian u32 per dim │ big-endian numbers, last dim fastest
///     type: 08 u8, 09 i8, 0B i16, 0C i32, 0D f32, 0E f64
///
/// Failure: kCorrupt, naming the file and the part of it, if a byte is missing, wrong or too many.
/// Cost: reads the header; the sizes in it allocate no memory.
Result<Rows> open_idx(std::shared_ptr<const FileBytes> bytes);
/// The same for a file, compressed with gzip or not.
Result<Rows> open_idx(FileSystem& fs, const std::string& path);

}  // namespace cohort::records
