#include "interchange/pickle/tree_size.h"

#include "interchange/pickle/limits.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::interchange {
namespace {

struct TreeSize {
  std::size_t num_values = 0;  // 0: not computed yet
  std::size_t text_bytes = 0;
  std::size_t height = 0;
};

template <class Visit>
void visit_children(const Node& node, const Visit& visit) {
  if (const auto* const list = std::get_if<ListNode>(&node)) {
    for (const NodeId item : list->items) visit(item);
  } else if (const auto* const tuple = std::get_if<TupleNode>(&node)) {
    for (const NodeId item : tuple->items) visit(item);
  } else if (const auto* const dict = std::get_if<DictNode>(&node)) {
    for (const auto& [key, value] : dict->entries) {
      visit(key);
      visit(value);
    }
  } else if (const auto* const object = std::get_if<ObjectNode>(&node)) {
    if (object->content) visit(*object->content);
  }
}

std::size_t own_text_bytes(const Node& node) {
  if (const auto* const text = std::get_if<std::string>(&node)) return text->size();
  const auto* const bytes = std::get_if<Bytes>(&node);
  return bytes == nullptr ? 0 : bytes->bytes.size();
}

// Sizes stop growing above their limits, so that sums do not overflow.
class TreeMeasure {
 public:
  explicit TreeMeasure(const Graph& graph) : graph_(graph), sizes_(graph.size()) {}

  // A list that contains itself is never finished: the depth of the recursion ends the way around it.
  TreeSize size_of(NodeId id, std::size_t depth) {
    if (sizes_[id].num_values > 0) return sizes_[id];
    const Node& node = graph_.at(id);
    TreeSize size{.num_values = 1, .text_bytes = own_text_bytes(node), .height = 1};
    if (depth == kMostDepth) {
      size.height = kMostDepth + 1;
      return size;
    }
    visit_children(node, [&](NodeId child) {
      if (size.height > kMostDepth) return;
      const TreeSize below = size_of(child, depth + 1);
      size.num_values = std::min(size.num_values + below.num_values, kMostValues + 1);
      size.text_bytes = std::min(size.text_bytes + below.text_bytes, kMostTreeTextBytes + 1);
      size.height = std::max(size.height, below.height + 1);
    });
    return sizes_[id] = size;
  }

 private:
  const Graph& graph_;
  std::vector<TreeSize> sizes_;
};

Status expect_at_most(std::size_t found, std::size_t most, std::string_view what) {
  if (found <= most) return {};
  return Error(ErrorCode::kCorrupt, fmt::format("the pickle stands for more than {} {}", most, what));
}

}  // namespace

Status check_tree_size(const Graph& graph, NodeId root) {
  const TreeSize size = TreeMeasure(graph).size_of(root, 0);
  COHORT_RETURN_IF_ERROR(expect_at_most(size.height, kMostDepth, "values inside each other"));
  COHORT_RETURN_IF_ERROR(expect_at_most(size.num_values, kMostValues, "values"));
  return expect_at_most(size.text_bytes, kMostTreeTextBytes, "bytes of text");
}

}  // namespace cohort::interchange
