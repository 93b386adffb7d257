#include "interchange/pickle/tree_size.h"
#include "interchange/pickle/unpickle.h"

#include <fmt/format.h>
#include <unordered_set>

namespace cohort::interchange {
namespace {

// Makes values from nodes. The size of the tree was checked.
class TreeMaker {
 public:
  explicit TreeMaker(const Graph& graph) : graph_(graph) {}

  Result<Value> value_of(NodeId id) {
    return std::visit([&](const auto& node) { return made(node); }, graph_.at(id));
  }

 private:
  static Error bad_dict(const std::string& why) {
    return Error(ErrorCode::kCorrupt, fmt::format("the pickle stands for a dict {}", why));
  }

  static Result<Value> made(std::monostate) { return Value(); }
  static Result<Value> made(bool node) { return Value(node); }
  static Result<Value> made(std::int64_t node) { return Value(node); }
  static Result<Value> made(double node) { return Value(node); }
  static Result<Value> made(const StoredTensor& node) { return Value(node); }
  static Result<Value> made(const std::string& node) { return Value(node); }
  static Result<Value> made(const Bytes& node) { return Value(node); }
  static Result<Value> made(const LongNode& node) {
    return Value(Object{.type = "builtins.int", .content = {Bytes{.bytes = node.bytes}}});
  }
  static Result<Value> made(const GlobalNode& node) {
    return Value(Object{.type = full_name(*node.global), .content = {}});
  }
  Result<Value> made(const ListNode& node) {
    COHORT_ASSIGN_OR_RETURN(std::vector<Value> items, values_of(node.items));
    return Value(List{.items = std::move(items)});
  }
  Result<Value> made(const TupleNode& node) {
    COHORT_ASSIGN_OR_RETURN(std::vector<Value> items, values_of(node.items));
    return Value(Tuple{.items = std::move(items)});
  }
  Result<Value> made(const ObjectNode& node) {
    Object object{.type = full_name(*node.type), .content = {}};
    if (!node.content) return Value(std::move(object));
    COHORT_ASSIGN_OR_RETURN(Value content, value_of(*node.content));
    object.content.push_back(std::move(content));
    return Value(std::move(object));
  }
  // A storage without a tensor around it is a tensor of one dimension.
  Result<Value> made(const StorageNode& node) const {
    return Value(StoredTensor{.dtype = graph_.storages()[node.storage].dtype.value_or(DType::kU8),
                              .shape = {node.count},
                              .strides = {1},
                              .storage = node.storage,
                              .offset = node.first});
  }
  Result<Value> made(const DictNode& node) {
    COHORT_RETURN_IF_ERROR(check_keys(node));
    Dict dict{.entries = {}, .kind = node.kind};
    for (const auto& [key, value] : node.entries) {
      COHORT_ASSIGN_OR_RETURN(Value made_key, value_of(key));
      COHORT_ASSIGN_OR_RETURN(Value made_value, value_of(value));
      dict.add(std::move(made_key), std::move(made_value));
    }
    return Value(std::move(dict));
  }

  Status check_keys(const DictNode& node) const {
    std::unordered_set<std::string_view> texts;
    std::unordered_set<std::int64_t> numbers;
    for (const auto& [key, value] : node.entries) {
      const auto* const text = graph_.as<std::string>(key);
      const auto* const number = graph_.as<std::int64_t>(key);
      const bool is_new = text != nullptr     ? texts.insert(*text).second
                          : number != nullptr ? numbers.insert(*number).second
                                              : true;
      if (!is_new) return bad_dict("in which a key occurs twice");
      if (text == nullptr && number == nullptr && graph_.as<ObjectNode>(key) == nullptr) {
        return bad_dict(
            fmt::format("with {} as a key, expected an integer or a text", kind_of(graph_.at(key))));
      }
    }
    return {};
  }

  Result<std::vector<Value>> values_of(std::span<const NodeId> ids) {
    std::vector<Value> values;
    for (const NodeId id : ids) {
      COHORT_ASSIGN_OR_RETURN(Value value, value_of(id));
      values.push_back(std::move(value));
    }
    return values;
  }

  const Graph& graph_;
};

}  // namespace

Result<Value> tree_of(const Graph& graph, NodeId root) {
  COHORT_RETURN_IF_ERROR(check_tree_size(graph, root));
  return TreeMaker(graph).value_of(root);
}

}  // namespace cohort::interchange
