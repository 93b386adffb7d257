#include "golden_files.h"

#include "storage/local_file_system.h"
#include "storage/whole_file.h"

namespace cohort::test {

std::string golden_file(const std::string& name) {
  LocalFileSystem fs;
  return value_or_throw(read_file(fs, std::string(COHORT_GOLDEN_FILES) + "/" + name));
}

void put_golden_dcp(FileSystem& fs) {
  value_or_throw(fs.make_directories("dcp"));
  for (const char* const name : {".metadata", "__0_0.distcp"}) {
    put_file(fs, std::string("dcp/") + name, golden_file(std::string("dcp/") + name));
  }
}

}  // namespace cohort::test
