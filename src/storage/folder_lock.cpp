#include "storage/folder_lock.h"

#include "base/system_error.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>

namespace cohort {

Result<FolderLock> FolderLock::take(const std::string& path) {
  Descriptor lock(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock.number() < 0) return system_error("cannot open it", errno);
  if (::flock(lock.number(), LOCK_EX | LOCK_NB) == 0) return FolderLock(std::move(lock));
  if (errno != EWOULDBLOCK) return system_error("cannot lock it", errno);
  return Error(ErrorCode::kUsage, "another job is writing to it");
}

}  // namespace cohort
