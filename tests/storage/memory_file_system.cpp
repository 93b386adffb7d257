#include "storage/memory_file_system.h"

#include "base/check.h"
#include "base/system_error.h"
#include "storage/memory_tree.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <mutex>

namespace cohort {

using storage::NodePointer;

struct MemoryFileSystem::Disk {
  std::mutex mutex;
  storage::MemoryTree tree;
  std::optional<std::uint64_t> capacity_bytes;

  std::uint64_t free_bytes() const {
    if (!capacity_bytes) return std::numeric_limits<std::uint64_t>::max();
    return *capacity_bytes - std::min(*capacity_bytes, tree.used_bytes());
  }
};

namespace {

class MemoryReadableFile final : public ReadableFile {
 public:
  MemoryReadableFile(MemoryFileSystem::Disk& disk, NodePointer node) : disk_(disk), node_(std::move(node)) {}

  Result<std::uint64_t> size_bytes() override {
    const std::lock_guard lock(disk_.mutex);
    return node_->content.size();
  }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
    const std::lock_guard lock(disk_.mutex);
    const std::span<const std::byte> content = node_->content;
    if (offset >= content.size()) return 0;
    const auto rest = content.subspan(offset);
    const std::size_t count = std::min(rest.size(), into.size());
    std::copy_n(rest.begin(), count, into.begin());
    return count;
  }

 private:
  MemoryFileSystem::Disk& disk_;
  const NodePointer node_;
};

class MemoryWritableFile final : public WritableFile {
 public:
  MemoryWritableFile(MemoryFileSystem::Disk& disk, std::string path, NodePointer node)
      : disk_(disk), path_(std::move(path)), node_(std::move(node)) {}

  Status append(std::span<const std::byte> bytes) override {
    COHORT_CHECK(node_ != nullptr, "append to '{}' after close", path_);
    const std::lock_guard lock(disk_.mutex);
    const auto fitting = bytes.first(std::min<std::uint64_t>(bytes.size(), disk_.free_bytes()));
    node_->content.insert(node_->content.end(), fitting.begin(), fitting.end());
    if (fitting.size() < bytes.size()) {
      return system_error(fmt::format("cannot write to '{}'", path_), ENOSPC);
    }
    return {};
  }

  Status sync() override {
    COHORT_CHECK(node_ != nullptr, "sync of '{}' after close", path_);
    const std::lock_guard lock(disk_.mutex);
    node_->sync_content();
    return {};
  }

  Status close() override {
    node_.reset();
    return {};
  }

 private:
  MemoryFileSystem::Disk& disk_;
  const std::string path_;
  NodePointer node_;
};

template <class Outcome>
Status status_of(const Outcome& outcome, const std::string& action) {
  if (!outcome) return system_error(action, outcome.error());
  return {};
}

}  // namespace

MemoryFileSystem::MemoryFileSystem(std::optional<std::uint64_t> capacity_bytes)
    : disk_(std::make_unique<Disk>()) {
  disk_->capacity_bytes = capacity_bytes;
}

MemoryFileSystem::~MemoryFileSystem() = default;

void MemoryFileSystem::lose_unsynced(std::optional<std::uint64_t> tear_seed) {
  const std::lock_guard lock(disk_->mutex);
  disk_->tree.lose_unsynced(tear_seed);
}

Result<std::unique_ptr<ReadableFile>> MemoryFileSystem::open_read(const std::string& path) {
  const std::lock_guard lock(disk_->mutex);
  const auto file = disk_->tree.find(path, FileKind::kFile);
  COHORT_RETURN_IF_ERROR(status_of(file, fmt::format("cannot open '{}' for reading", path)));
  return std::make_unique<MemoryReadableFile>(*disk_, *file);
}

Result<std::unique_ptr<WritableFile>> MemoryFileSystem::create(const std::string& path) {
  const std::lock_guard lock(disk_->mutex);
  const auto file = disk_->tree.find_or_make_file(path);
  COHORT_RETURN_IF_ERROR(status_of(file, fmt::format("cannot open '{}' for writing", path)));
  (*file)->empty();
  return std::make_unique<MemoryWritableFile>(*disk_, path, *file);
}

Result<std::unique_ptr<WritableFile>> MemoryFileSystem::create_new(const std::string& path) {
  const std::lock_guard lock(disk_->mutex);
  const std::string action = fmt::format("cannot open '{}' for writing", path);
  if (disk_->tree.find(path).has_value()) return system_error(action, EEXIST);
  const auto file = disk_->tree.find_or_make_file(path);
  COHORT_RETURN_IF_ERROR(status_of(file, action));
  return std::make_unique<MemoryWritableFile>(*disk_, path, *file);
}

Result<std::unique_ptr<WritableFile>> MemoryFileSystem::open_append(const std::string& path) {
  const std::lock_guard lock(disk_->mutex);
  const auto file = disk_->tree.find_or_make_file(path);
  COHORT_RETURN_IF_ERROR(status_of(file, fmt::format("cannot open '{}' for writing", path)));
  return std::make_unique<MemoryWritableFile>(*disk_, path, *file);
}

Result<FileInfo> MemoryFileSystem::info(const std::string& path) {
  const std::lock_guard lock(disk_->mutex);
  const auto node = disk_->tree.find(path);
  COHORT_RETURN_IF_ERROR(status_of(node, fmt::format("cannot get the status of '{}'", path)));
  return FileInfo{(*node)->kind, (*node)->content.size()};
}

Result<bool> MemoryFileSystem::exists(const std::string& path) {
  const std::lock_guard lock(disk_->mutex);
  return disk_->tree.find(path).has_value();
}

Result<std::vector<std::string>> MemoryFileSystem::list(const std::string& directory) {
  const std::lock_guard lock(disk_->mutex);
  const auto node = disk_->tree.find(directory, FileKind::kDirectory);
  COHORT_RETURN_IF_ERROR(status_of(node, fmt::format("cannot list '{}'", directory)));
  std::vector<std::string> names;
  for (const auto& entry : (*node)->entries) names.push_back(entry.first);
  return names;
}

Status MemoryFileSystem::make_directories(const std::string& directory) {
  const std::lock_guard lock(disk_->mutex);
  return status_of(disk_->tree.make_directories(directory),
                   fmt::format("cannot make directory '{}'", directory));
}

Status MemoryFileSystem::rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(disk_->mutex);
  return status_of(disk_->tree.rename(from, to), fmt::format("cannot rename '{}' to '{}'", from, to));
}

Status MemoryFileSystem::remove(const std::string& path) {
  const std::lock_guard lock(disk_->mutex);
  return status_of(disk_->tree.remove(path), fmt::format("cannot remove '{}'", path));
}

Status MemoryFileSystem::sync_directory(const std::string& directory) {
  const std::lock_guard lock(disk_->mutex);
  const auto node = disk_->tree.find(directory, FileKind::kDirectory);
  COHORT_RETURN_IF_ERROR(status_of(node, fmt::format("cannot sync directory '{}'", directory)));
  (*node)->synced_entries = (*node)->entries;
  return {};
}

Status MemoryFileSystem::check_writable(const std::string& directory) {
  const std::lock_guard lock(disk_->mutex);
  return status_of(disk_->tree.find(directory, FileKind::kDirectory),
                   fmt::format("cannot write to directory '{}'", directory));
}

std::uint64_t MemoryFileSystem::free_bytes() const {
  const std::lock_guard lock(disk_->mutex);
  return disk_->free_bytes();
}

}  // namespace cohort
