#include "interchange/pickle/limits.h"
#include "interchange/pickle/unpickler.h"

namespace cohort::interchange {

Status Unpickler::mark() {
  if (marks_.size() == kMostMarks) return corrupt(fmt::format("expected at most {} open marks", kMostMarks));
  marks_.push_back(stack_.size());
  return {};
}

Status Unpickler::empty_tuple() {
  return push(TupleNode());
}
Status Unpickler::empty_list() {
  return push(ListNode());
}
Status Unpickler::empty_dict() {
  return push(DictNode());
}

template <std::size_t count>
Status Unpickler::tuple_of() {
  if (in_reach() < count) {
    return corrupt(fmt::format("expected {} values on the stack, found {}", count, in_reach()));
  }
  const auto first = stack_.end() - static_cast<std::ptrdiff_t>(count);
  TupleNode made{.items = {first, stack_.end()}};
  stack_.erase(first, stack_.end());
  return push(std::move(made));
}
template Status Unpickler::tuple_of<1>();
template Status Unpickler::tuple_of<2>();
template Status Unpickler::tuple_of<3>();

Status Unpickler::tuple() {
  COHORT_ASSIGN_OR_RETURN(std::vector<NodeId> items, pop_to_mark());
  return push(TupleNode{.items = std::move(items)});
}

Status Unpickler::frozen_set() {
  COHORT_ASSIGN_OR_RETURN(std::vector<NodeId> items, pop_to_mark());
  return push(ListNode{.items = std::move(items)});
}

Status Unpickler::append_all(std::span<const NodeId> items) {
  COHORT_ASSIGN_OR_RETURN(const NodeId id, top("a list"));
  COHORT_ASSIGN_OR_RETURN(ListNode* const list, as<ListNode>(id, "a list"));
  list->items.insert(list->items.end(), items.begin(), items.end());
  return {};
}

Status Unpickler::append() {
  COHORT_ASSIGN_OR_RETURN(const NodeId item, pop("a value"));
  return append_all(std::span(&item, 1));
}

Status Unpickler::appends() {
  COHORT_ASSIGN_OR_RETURN(const std::vector<NodeId> items, pop_to_mark());
  return append_all(items);
}

Status Unpickler::set_all(std::span<const NodeId> keys_and_values) {
  if (keys_and_values.size() % 2 != 0) return corrupt("expected a value for every key, found a key alone");
  COHORT_ASSIGN_OR_RETURN(const NodeId id, top("a dict"));
  COHORT_ASSIGN_OR_RETURN(DictNode* const dict, as<DictNode>(id, "a dict"));
  for (std::size_t i = 0; i < keys_and_values.size(); i += 2) {
    dict->entries.emplace_back(keys_and_values[i], keys_and_values[i + 1]);
  }
  return {};
}

Status Unpickler::set_item() {
  COHORT_ASSIGN_OR_RETURN(const NodeId value, pop("a value"));
  COHORT_ASSIGN_OR_RETURN(const NodeId key, pop("a key"));
  const NodeId item[] = {key, value};
  return set_all(item);
}

Status Unpickler::set_items() {
  COHORT_ASSIGN_OR_RETURN(const std::vector<NodeId> items, pop_to_mark());
  return set_all(items);
}

}  // namespace cohort::interchange
