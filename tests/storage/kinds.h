#pragma once

#include "storage/faulty_file_system.h"
#include "storage/local_file_system.h"
#include "temporary_directory.h"

#include <functional>
#include <ostream>

namespace cohort {

/// A file system and an empty directory in it to work in.
struct Workplace {
  virtual ~Workplace() = default;
  virtual FileSystem& fs() = 0;
  virtual std::string root() = 0;
};

struct LocalWorkplace final : Workplace {
  TemporaryDirectory directory;
  LocalFileSystem files;
  FileSystem& fs() override { return files; }
  std::string root() override { return directory.path(); }
};

struct MemoryWorkplace final : Workplace {
  MemoryFileSystem files;
  FileSystem& fs() override { return files; }
  std::string root() override { return ""; }
};

struct FaultyWorkplace final : Workplace {
  MemoryFileSystem disk;
  FaultyFileSystem files{disk};
  FileSystem& fs() override { return files; }
  std::string root() override { return ""; }
};

struct FileSystemKind {
  const char* name;
  std::function<std::unique_ptr<Workplace>()> make;
};

inline void PrintTo(const FileSystemKind& kind, std::ostream* out) {  // NOLINT: the name GoogleTest looks for
  *out << kind.name;
}

/// Every kind of file system; what the conformance tests run over.
inline const FileSystemKind kFileSystemKinds[] = {
    {"Local", [] { return std::make_unique<LocalWorkplace>(); }},
    {"Memory", [] { return std::make_unique<MemoryWorkplace>(); }},
    {"Faulty", [] { return std::make_unique<FaultyWorkplace>(); }},
};

/// A test that runs once per kind.
class EveryFileSystem : public testing::TestWithParam<FileSystemKind> {
 protected:
  FileSystem& fs() { return workplace_->fs(); }
  std::string root() { return workplace_->root(); }
  std::string at(const std::string& name) { return workplace_->root() + "/" + name; }

 private:
  std::unique_ptr<Workplace> workplace_ = GetParam().make();
};

inline std::string kind_name(const testing::TestParamInfo<FileSystemKind>& info) {
  return info.param.name;
}

}  // namespace cohort
