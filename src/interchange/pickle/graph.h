#pragma once

#include "base/result.h"
#include "interchange/pickle/value.h"

#include <optional>
#include <unordered_map>

namespace cohort::interchange {

struct Global;

/// A storage that tensors of a pickle refer to. Its bytes are elsewhere in the file.
struct StorageKey {
  std::string key{};
  std::optional<DType> dtype{};  ///< nothing: bytes without a type
  std::uint64_t count = 0;       ///< in elements; in bytes without a type

  std::uint64_t element_bytes() const { return dtype ? cohort::size_bytes(*dtype) : 1; }
  bool operator==(const StorageKey&) const = default;
};

/// The number of a node in its graph.
using NodeId = std::uint32_t;

struct GlobalNode {
  const Global* global = nullptr;
};
struct ListNode {
  std::vector<NodeId> items{};
};
struct TupleNode {
  std::vector<NodeId> items{};
};
struct DictNode {
  std::vector<std::pair<NodeId, NodeId>> entries{};
  DictKind kind = DictKind::kPlain;
};
struct ObjectNode {
  const Global* type = nullptr;
  std::optional<NodeId> content{};
};
/// Elements `first` … `first + count - 1` of a storage.
struct StorageNode {
  std::size_t storage = 0;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};
/// An integer that does not fit into 64 bits, in two's complement, little endian.
struct LongNode {
  std::string bytes{};
};

using Node = std::variant<std::monostate, bool, std::int64_t, double, std::string, Bytes, LongNode, ListNode,
                          TupleNode, DictNode, ObjectNode, GlobalNode, StorageNode, StoredTensor>;

/// The values that a pickle has made so far. They refer to each other by number, because a pickle may refer
/// to one value many times, or to a value from inside itself.
class Graph {
 public:
  /// Failure: kCorrupt beyond kMostValues.
  Result<NodeId> add(Node node);
  std::size_t size() const { return nodes_.size(); }
  Node& at(NodeId id) { return nodes_[id]; }
  const Node& at(NodeId id) const { return nodes_[id]; }
  /// Null if the node is of another type.
  template <class T>
  T* as(NodeId id) {
    return std::get_if<T>(&nodes_[id]);
  }
  template <class T>
  const T* as(NodeId id) const {
    return std::get_if<T>(&nodes_[id]);
  }

  /// The number of the storage with this key. kCorrupt if it was of another type or length before.
  Result<std::size_t> add_storage(StorageKey storage);
  const std::vector<StorageKey>& storages() const { return storages_; }

 private:
  std::vector<Node> nodes_;
  std::vector<StorageKey> storages_;
  std::unordered_map<std::string, std::size_t> storage_index_;
};

/// `a list`, `the global torch.Size`, …: the type of a node in an error message.
std::string kind_of(const Node& node);

}  // namespace cohort::interchange
