#pragma once

#include "storage/file_system.h"

#include <map>
#include <optional>
#include <string_view>

namespace cohort::storage {

/// A value, or the errno that a real file system would give.
template <class T>
using OrErrno = tl::expected<T, int>;

/// A file or a directory in memory, with the state that a disk would have after a power cut.
struct MemoryNode {
  using Bytes = std::vector<std::byte>;
  using Entries = std::map<std::string, std::shared_ptr<MemoryNode>>;

  explicit MemoryNode(FileKind node_kind) : kind(node_kind) {}

  const FileKind kind;

  Bytes content;
  std::size_t synced_bytes = 0;         ///< length of the prefix of `content` that is on disk
  std::optional<Bytes> before_emptied;  ///< content on disk, if the file was truncated since the last sync

  Entries entries;
  Entries synced_entries;

  /// Truncates a file. The truncation is not on disk yet.
  void empty();
  /// Marks the content of a file as on disk.
  void sync_content();
};

using NodePointer = std::shared_ptr<MemoryNode>;

/// The names from the root to `path`. `.` and `..` are resolved as text.
std::vector<std::string> components(std::string_view path);

/// The directory tree of a MemoryFileSystem, and the effect of a power cut on it.
///
/// Threads: one at a time.
class MemoryTree {
 public:
  OrErrno<NodePointer> find(const std::string& path) const;
  OrErrno<NodePointer> find(const std::string& path, FileKind kind) const;
  /// The file at `path`; an empty file is created if nothing has the name.
  OrErrno<NodePointer> find_or_make_file(const std::string& path);
  OrErrno<void> make_directories(const std::string& path);
  OrErrno<void> rename(const std::string& from, const std::string& to);
  OrErrno<void> remove(const std::string& path);

  /// Size of all files that have a name.
  std::uint64_t used_bytes() const;
  void lose_unsynced(std::optional<std::uint64_t> tear_seed);

 private:
  /// A name in a directory, taken or free.
  struct DirectoryEntry {
    NodePointer directory;
    std::string name;
    NodePointer node;  ///< null if the name is free
  };
  OrErrno<DirectoryEntry> entry_of(const std::string& path) const;

  NodePointer root_ = std::make_shared<MemoryNode>(FileKind::kDirectory);
};

}  // namespace cohort::storage
