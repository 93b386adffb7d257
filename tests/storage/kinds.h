#pragma once

#include "storage/faulty_file_system.h"
#include "storage/local_file_system.h"
#include "temporary_directory.h"

#include <functional>
#include <ostream>

namespace cohort {

/// A file system and an empty directory in it.
struct Sandbox {
  virtual ~Sandbox() = default;
  virtual FileSystem& fs() = 0;
  virtual std::string root() = 0;
};

struct LocalSandbox final : Sandbox {
  TemporaryDirectory directory;
  LocalFileSystem files;
  FileSystem& fs() override { return files; }
  std::string root() override { return directory.path(); }
};

struct MemorySandbox final : Sandbox {
  MemoryFileSystem files;
  FileSystem& fs() override { return files; }
  std::string root() override { return ""; }
};

struct FaultySandbox final : Sandbox {
  MemoryFileSystem disk;
  FaultyFileSystem files{disk};
  FileSystem& fs() override { return files; }
  std::string root() override { return ""; }
};

struct FileSystemKind {
  const char* name;
  std::function<std::unique_ptr<Sandbox>()> make;
};

inline void PrintTo(const FileSystemKind& kind, std::ostream* out) {  // NOLINT: the name GoogleTest looks for
  *out << kind.name;
}

/// Every kind of file system. The conformance tests run once for each.
inline const FileSystemKind kFileSystemKinds[] = {
    {"Local", [] { return std::make_unique<LocalSandbox>(); }},
    {"Memory", [] { return std::make_unique<MemorySandbox>(); }},
    {"Faulty", [] { return std::make_unique<FaultySandbox>(); }},
};

/// A test that runs once per kind.
class EveryFileSystem : public testing::TestWithParam<FileSystemKind> {
 protected:
  FileSystem& fs() { return sandbox_->fs(); }
  std::string root() { return sandbox_->root(); }
  std::string at(const std::string& name) { return sandbox_->root() + "/" + name; }

 private:
  std::unique_ptr<Sandbox> sandbox_ = GetParam().make();
};

inline std::string kind_name(const testing::TestParamInfo<FileSystemKind>& info) {
  return info.param.name;
}

}  // namespace cohort
