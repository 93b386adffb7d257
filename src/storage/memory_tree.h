#pragma once

#include "storage/file_system.h"

#include <map>
#include <optional>

namespace cohort::storage {

/// A value, or the error number the operating system would give.
template <class T>
using OrErrno = tl::expected<T, int>;

/// A file or a directory in memory, beside what a disk would have of it after a power cut.
struct MemoryNode {
  using Bytes = std::vector<std::byte>;
  using Entries = std::map<std::string, std::shared_ptr<MemoryNode>>;

  explicit MemoryNode(FileKind node_kind) : kind(node_kind) {}

  const FileKind kind;

  Bytes content;
  std::size_t synced_bytes = 0;         ///< the front of `content` that is on disk
  std::optional<Bytes> before_emptied;  ///< on disk instead, if the file was emptied since the last sync

  Entries entries;
  Entries synced_entries;

  /// A file's content becomes empty; the disk does not know yet.
  void empty();
  /// A file's content reaches the disk.
  void sync_content();
};

using NodePointer = std::shared_ptr<MemoryNode>;

/// The tree of a MemoryFileSystem: what names mean, and what a power cut leaves of it.
///
/// Threads: one at a time.
class MemoryTree {
 public:
  OrErrno<NodePointer> find(const std::string& path) const;
  OrErrno<NodePointer> find(const std::string& path, FileKind kind) const;
  /// The file at `path`, made if it is not there.
  OrErrno<NodePointer> find_or_make_file(const std::string& path);
  OrErrno<void> make_directories(const std::string& path);
  OrErrno<void> rename(const std::string& from, const std::string& to);
  OrErrno<void> remove(const std::string& path);

  /// The content of all files that have a name.
  std::uint64_t used_bytes() const;
  void lose_unsynced(std::optional<std::uint64_t> tear_seed);

 private:
  /// A name in a directory, whether or not something has it.
  struct Place {
    NodePointer directory;
    std::string name;
    NodePointer node;  ///< null if nothing has the name
  };
  OrErrno<Place> place_of(const std::string& path) const;

  NodePointer root_ = std::make_shared<MemoryNode>(FileKind::kDirectory);
};

}  // namespace cohort::storage
