#include "run_directory.h"

#include "base/system_error.h"
#include "storage/local_file_system.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

namespace cohort::tool {
namespace {

constexpr const char* kWritten[] = {"best.safetensors", "last.safetensors", "steps.jsonl"};

Status put_aside(LocalFileSystem& files, const std::string& path) {
  for (const char* name : kWritten) {
    const Status moved = files.rename(path + "/" + name, path + "/earlier-" + name);
    if (!moved && moved.error().code() != ErrorCode::kNotFound) return moved;
  }
  return {};
}

Result<Descriptor> locked(const std::string& path) {
  Descriptor lock(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock.number() < 0) return system_error("cannot open it", errno);
  if (::flock(lock.number(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return system_error("cannot lock it", errno);
  return Error(ErrorCode::kUsage, "another job is writing to it");
}

}  // namespace

Result<RunDirectory> RunDirectory::take(const std::string& path) {
  const auto named = [&](const Error& error) {
    return error.within(fmt::format("the run directory '{}' cannot be used", path))
        .with_remedy("Name another folder with train.directory.");
  };
  LocalFileSystem files;
  if (const Status made = files.make_directories(path); !made) return named(made.error());
  Result<Descriptor> lock = locked(path);
  if (!lock) return named(lock.error());
  if (const Status moved = put_aside(files, path); !moved) return named(moved.error());
  return RunDirectory(std::move(*lock));
}

}  // namespace cohort::tool
