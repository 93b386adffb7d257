#include "bench/shared_array.h"

#include "base/descriptor.h"
#include "base/system_error.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace cohort::tool {

Result<SharedArray> SharedArray::open(const std::string& path, std::size_t count, float value) {
  const std::string doing = fmt::format("cannot make the array '{}' of {} numbers", path, count);
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.is_open()) return system_error(doing, errno);
  struct stat found {};
  if (::fstat(file.number(), &found) != 0) return system_error(doing, errno);
  const std::size_t bytes = count * sizeof(float);
  const bool is_new = found.st_size == 0;
  if (is_new) {
    const int failure = ::posix_fallocate(file.number(), 0, static_cast<off_t>(bytes));
    if (failure != 0) return system_error(doing, failure);
  }
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (memory == MAP_FAILED) return system_error(doing, errno);
  SharedArray array(static_cast<float*>(memory), count);
  if (is_new) std::fill_n(array.data(), count, value);
  return array;
}

SharedArray::~SharedArray() {
  if (data_ != nullptr) ::munmap(data_, count_ * sizeof(float));
}

}  // namespace cohort::tool
