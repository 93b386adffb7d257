#include "records/record_file.h"

#include "records/gzip.h"
#include "storage/whole_file.h"

#include <fmt/format.h>

namespace cohort::records {

Result<std::string> read_record_file(FileSystem& fs, const std::string& path, std::uint64_t max_bytes) {
  COHORT_ASSIGN_OR_RETURN(std::string content, read_file(fs, path, max_bytes));
  if (is_gzip(content)) return gunzip(content, path, max_bytes);
  if (path.ends_with(".gz")) {
    return Error(ErrorCode::kCorrupt, fmt::format("'{}' is not a gzip file, whatever its name says", path))
        .with_remedy("Get the file again, or give it a name without .gz if it was unpacked.");
  }
  return content;
}

}  // namespace cohort::records
