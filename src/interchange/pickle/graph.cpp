#include "interchange/pickle/graph.h"

#include "interchange/input/printable.h"
#include "interchange/pickle/globals.h"
#include "interchange/pickle/limits.h"

#include <fmt/format.h>

namespace cohort::interchange {

Result<NodeId> Graph::add(Node node) {
  if (nodes_.size() == kMostValues) {
    return Error(ErrorCode::kCorrupt, fmt::format("the pickle has more than {} values", kMostValues));
  }
  nodes_.push_back(std::move(node));
  return static_cast<NodeId>(nodes_.size() - 1);
}

Result<std::size_t> Graph::add_storage(StorageKey storage) {
  const auto [found, is_new] = storage_index_.try_emplace(storage.key, storages_.size());
  if (is_new) {
    storages_.push_back(std::move(storage));
  } else if (const StorageKey& other = storages_[found->second]; other != storage) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("storage '{}' has {} elements of {} bytes, expected {} of {} as before",
                             printable(storage.key), storage.count, storage.element_bytes(), other.count,
                             other.element_bytes()));
  }
  return found->second;
}

std::string kind_of(const Node& node) {
  if (const auto* const object = std::get_if<ObjectNode>(&node)) return full_name(*object->type);
  if (const auto* const global = std::get_if<GlobalNode>(&node)) return full_name(*global->global);
  static constexpr const char* kKinds[] = {"None",
                                           "a bool",
                                           "an integer",
                                           "a float",
                                           "a text",
                                           "bytes",
                                           "an integer of more than 64 bits",
                                           "a list",
                                           "a tuple",
                                           "a dict",
                                           "an object",
                                           "a global",
                                           "a storage",
                                           "a tensor"};
  return kKinds[node.index()];
}

}  // namespace cohort::interchange
