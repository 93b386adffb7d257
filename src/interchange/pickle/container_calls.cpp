#include "interchange/pickle/calls.h"
#include "interchange/pickle/limits.h"

#include <fmt/format.h>

namespace cohort::interchange {
namespace {

Error wrong_argument(const Graph& graph, NodeId argument, std::string_view expected) {
  return Error(ErrorCode::kCorrupt,
               fmt::format("expected {} as argument, found {}", expected, kind_of(graph.at(argument))));
}

// The two items of a pair in a list of pairs.
Result<std::pair<NodeId, NodeId>> pair_of(const Graph& graph, NodeId id) {
  const std::vector<NodeId>* items = nullptr;
  if (const auto* const list = graph.as<ListNode>(id)) items = &list->items;
  if (const auto* const tuple = graph.as<TupleNode>(id)) items = &tuple->items;
  if (items == nullptr || items->size() != 2) return wrong_argument(graph, id, "pairs of key and value");
  return std::pair(items->front(), items->back());
}

// The character that a text begins with, of those below 256; it is removed from the text.
Result<char> next_latin1(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text.front());
  text.remove_prefix(1);
  if (first < 0x80) return static_cast<char>(first);
  const bool is_short = (first == 0xc2 || first == 0xc3) && !text.empty();
  const auto second = is_short ? static_cast<unsigned char>(text.front()) : 0u;
  if ((second & 0xc0) != 0x80) {
    return Error(ErrorCode::kCorrupt, "expected a text of Latin-1 as argument, found another character");
  }
  text.remove_prefix(1);
  return static_cast<char>((first & 0x03u) << 6 | (second & 0x3fu));
}

}  // namespace

Result<Node> make_ordered_dict(Graph& graph, std::span<const NodeId> arguments) {
  COHORT_RETURN_IF_ERROR(expect_arguments(arguments, 0, 1));
  DictNode dict{.entries = {}, .kind = DictKind::kOrderedDict};
  if (arguments.empty()) return dict;
  const auto* const pairs = graph.as<ListNode>(arguments[0]);
  if (pairs == nullptr) return wrong_argument(graph, arguments[0], "a list");
  for (const NodeId each : pairs->items) {
    COHORT_ASSIGN_OR_RETURN(const auto pair, pair_of(graph, each));
    dict.entries.push_back(pair);
  }
  return dict;
}

Result<Node> make_counter(Graph& graph, std::span<const NodeId> arguments) {
  COHORT_RETURN_IF_ERROR(expect_arguments(arguments, 0, 1));
  if (arguments.empty()) return DictNode{};
  const auto* const dict = graph.as<DictNode>(arguments[0]);
  if (dict == nullptr) return wrong_argument(graph, arguments[0], "a dict");
  return *dict;
}

Result<Node> make_set(Graph& graph, std::span<const NodeId> arguments) {
  COHORT_RETURN_IF_ERROR(expect_arguments(arguments, 0, 1));
  if (arguments.empty()) return ListNode{};
  const auto* const list = graph.as<ListNode>(arguments[0]);
  if (list == nullptr) return wrong_argument(graph, arguments[0], "a list");
  return *list;
}

Result<Node> make_bytes(Graph& graph, std::span<const NodeId> arguments) {
  COHORT_RETURN_IF_ERROR(expect_arguments(arguments, 0, 1));
  if (arguments.empty()) return Bytes{};
  const auto* const bytes = graph.as<Bytes>(arguments[0]);
  if (bytes == nullptr) return wrong_argument(graph, arguments[0], "bytes");
  return *bytes;
}

Result<Node> encode_latin1(Graph& graph, std::span<const NodeId> arguments) {
  COHORT_RETURN_IF_ERROR(expect_arguments(arguments, 2, 2));
  const auto* const text = graph.as<std::string>(arguments[0]);
  const auto* const encoding = graph.as<std::string>(arguments[1]);
  if (text == nullptr) return wrong_argument(graph, arguments[0], "a text");
  if (encoding == nullptr || *encoding != "latin1") return wrong_argument(graph, arguments[1], "'latin1'");
  Bytes bytes;
  for (std::string_view rest = *text; !rest.empty();) {
    COHORT_ASSIGN_OR_RETURN(const char letter, next_latin1(rest));
    bytes.bytes += letter;
  }
  return bytes;
}

Result<Node> make_size(Graph& graph, std::span<const NodeId> arguments) {
  COHORT_RETURN_IF_ERROR(expect_arguments(arguments, 1, 1));
  const auto* const tuple = graph.as<TupleNode>(arguments[0]);
  if (tuple == nullptr) return wrong_argument(graph, arguments[0], "a tuple");
  return *tuple;
}

Result<Node> member_of_enum(Graph& graph, std::span<const NodeId> arguments) {
  COHORT_RETURN_IF_ERROR(expect_arguments(arguments, 2, 2));
  const auto* const global = graph.as<GlobalNode>(arguments[0]);
  if (global == nullptr || !global->global->name.ends_with("MEM_FORMAT_ENCODING")) {
    return wrong_argument(graph, arguments[0], "an enumeration");
  }
  if (graph.as<std::string>(arguments[1]) == nullptr) return wrong_argument(graph, arguments[1], "a text");
  return ObjectNode{.type = global->global, .content = arguments[1]};
}

}  // namespace cohort::interchange
