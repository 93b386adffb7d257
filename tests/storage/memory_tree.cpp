#include "storage/memory_tree.h"

#include <algorithm>
#include <cerrno>
#include <cohort/random.h>
#include <set>

namespace cohort::storage {
namespace {

tl::unexpected<int> failed(int error_number) {
  return tl::unexpected<int>(error_number);
}

/// Follows `names` from `node` downwards.
OrErrno<NodePointer> walk(NodePointer node, std::span<const std::string> names) {
  for (const std::string& name : names) {
    if (node->kind != FileKind::kDirectory) return failed(ENOTDIR);
    const auto entry = node->entries.find(name);
    if (entry == node->entries.end()) return failed(ENOENT);
    node = entry->second;
  }
  return node;
}

bool is_inside(const std::string& path, const std::string& directory) {
  const auto inner = components(path);
  const auto outer = components(directory);
  return inner.size() > outer.size() && std::equal(outer.begin(), outer.end(), inner.begin());
}

/// One power cut: turns every node into the state that reached the disk.
class PowerCut {
 public:
  explicit PowerCut(std::optional<std::uint64_t> tear_seed) {
    if (tear_seed) tear_.emplace(*tear_seed, 0);
  }

  void strike(MemoryNode& node) {
    if (!struck_.insert(&node).second) return;
    if (node.kind == FileKind::kFile) {
      strike_content(node);
    } else {
      strike_entries(node);
    }
  }

 private:
  void strike_content(MemoryNode& file) {
    if (file.before_emptied && (!tear_ || random_up_to(1) == 0)) {
      file.content = *std::move(file.before_emptied);
    } else {
      const std::size_t tail = file.content.size() - file.synced_bytes;
      file.content.resize(file.synced_bytes + (tear_ ? random_up_to(tail) : 0));
    }
    file.sync_content();
  }

  // A directory that was moved with only one of its parents synced is on disk twice. The first name keeps it.
  void strike_entries(MemoryNode& directory) {
    directory.entries.clear();
    for (const auto& [name, node] : directory.synced_entries) {
      if (node->kind == FileKind::kDirectory && struck_.count(node.get()) != 0) continue;
      directory.entries.emplace(name, node);
      strike(*node);
    }
    directory.synced_entries = directory.entries;
  }

  std::size_t random_up_to(std::size_t last) { return tear_->below(last + 1, drawn_++); }

  std::optional<RandomStream> tear_;
  std::uint64_t drawn_ = 0;
  std::set<const MemoryNode*> struck_;
};

std::uint64_t bytes_below(const MemoryNode& node) {
  std::uint64_t sum = node.content.size();
  for (const auto& entry : node.entries) sum += bytes_below(*entry.second);
  return sum;
}

}  // namespace

std::vector<std::string> components(std::string_view path) {
  std::vector<std::string> names;
  while (!path.empty()) {
    const auto slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (name.empty() || name == ".") continue;
    if (name != "..") {
      names.emplace_back(name);
    } else if (!names.empty()) {
      names.pop_back();
    }
  }
  return names;
}

void MemoryNode::empty() {
  if (!before_emptied) {
    content.resize(synced_bytes);
    before_emptied = std::move(content);
  }
  content.clear();
  synced_bytes = 0;
}

void MemoryNode::sync_content() {
  synced_bytes = content.size();
  before_emptied.reset();
}

OrErrno<NodePointer> MemoryTree::find(const std::string& path) const {
  if (path.empty()) return failed(ENOENT);
  return walk(root_, components(path));
}

OrErrno<NodePointer> MemoryTree::find(const std::string& path, FileKind kind) const {
  auto found = find(path);
  if (found && (*found)->kind != kind) return failed(kind == FileKind::kFile ? EISDIR : ENOTDIR);
  return found;
}

OrErrno<MemoryTree::DirectoryEntry> MemoryTree::entry_of(const std::string& path) const {
  const auto names = components(path);
  if (path.empty()) return failed(ENOENT);
  if (names.empty()) return failed(EBUSY);  // the root has no name
  const auto directory = walk(root_, std::span(names).first(names.size() - 1));
  if (!directory) return failed(directory.error());
  if ((*directory)->kind != FileKind::kDirectory) return failed(ENOTDIR);
  const auto entry = (*directory)->entries.find(names.back());
  return DirectoryEntry{*directory, names.back(),
                        entry == (*directory)->entries.end() ? nullptr : entry->second};
}

OrErrno<NodePointer> MemoryTree::find_or_make_file(const std::string& path) {
  if (!path.empty() && components(path).empty()) return failed(EISDIR);
  const auto found = entry_of(path);
  if (!found) return failed(found.error());
  if (!found->node) {
    return found->directory->entries[found->name] = std::make_shared<MemoryNode>(FileKind::kFile);
  }
  if (found->node->kind != FileKind::kFile) return failed(EISDIR);
  return found->node;
}

OrErrno<void> MemoryTree::make_directories(const std::string& path) {
  if (path.empty()) return failed(ENOENT);
  NodePointer directory = root_;
  for (const std::string& name : components(path)) {
    NodePointer& entry = directory->entries[name];
    if (!entry) entry = std::make_shared<MemoryNode>(FileKind::kDirectory);
    if (entry->kind != FileKind::kDirectory) return failed(EEXIST);
    directory = entry;
  }
  return {};
}

OrErrno<void> MemoryTree::rename(const std::string& from, const std::string& to) {
  const auto source = entry_of(from);
  if (!source) return failed(source.error());
  if (!source->node) return failed(ENOENT);
  const auto target = entry_of(to);
  if (!target) return failed(target.error());
  if (source->node == target->node) return {};
  const bool moves_directory = source->node->kind == FileKind::kDirectory;
  if (moves_directory && is_inside(to, from)) return failed(EINVAL);
  if (target->node) {
    const bool onto_directory = target->node->kind == FileKind::kDirectory;
    if (moves_directory != onto_directory) return failed(onto_directory ? EISDIR : ENOTDIR);
    if (!target->node->entries.empty()) return failed(ENOTEMPTY);
  }
  target->directory->entries[target->name] = source->node;
  source->directory->entries.erase(source->name);
  return {};
}

OrErrno<void> MemoryTree::remove(const std::string& path) {
  const auto found = entry_of(path);
  if (!found) return failed(found.error());
  if (!found->node) return failed(ENOENT);
  if (!found->node->entries.empty()) return failed(ENOTEMPTY);
  found->directory->entries.erase(found->name);
  return {};
}

std::uint64_t MemoryTree::used_bytes() const {
  return bytes_below(*root_);
}

void MemoryTree::lose_unsynced(std::optional<std::uint64_t> tear_seed) {
  PowerCut(tear_seed).strike(*root_);
}

}  // namespace cohort::storage
