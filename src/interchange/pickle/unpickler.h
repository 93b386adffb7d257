#pragma once

#include "interchange/input/byte_feed.h"
#include "interchange/pickle/globals.h"

#include <unordered_map>
#include <vector>

namespace cohort::interchange {

class Unpickler;

/// An opcode that is allowed.
struct Opcode {
  unsigned char code = 0;
  std::string_view name{};
  Status (Unpickler::*run)() = nullptr;
};

/// The machine that a pickle is a program for: it makes values, and puts them together on a stack.
///
/// Threads: one at a time.
/// Lifetime: the feed must outlive it.
/// Failure: see unpickle().
class Unpickler {
 public:
  Unpickler(ByteFeed& feed, GlobalTable allowed) : feed_(feed), allowed_(allowed) {}

  /// Runs opcodes up to STOP, and returns the value on top of the stack.
  Result<NodeId> run();
  const Graph& graph() const { return graph_; }

 private:
  static const Opcode* opcode_of(unsigned char code);
  static std::span<const Opcode> opcodes();

  // Numbers and texts.
  Status protocol();
  Status frame();
  Status none();
  Status truth();
  Status falsehood();
  template <class Number>
  Status integer();
  Status long_integer();
  Status floating();
  template <class Length>
  Status text();
  template <class Length>
  Status bytes();

  // Containers.
  Status mark();
  Status empty_tuple();
  Status empty_list();
  Status empty_dict();
  template <std::size_t count>
  Status tuple_of();
  Status tuple();
  Status append();
  Status appends();
  Status set_item();
  Status set_items();
  Status frozen_set();

  // The memo.
  template <class Number>
  Status put();
  Status memoize();
  template <class Number>
  Status get();

  // Names and what is made from them.
  Status global();
  Status stack_global();
  Status use_global(const std::string& module, const std::string& name);
  Status reduce();
  Status new_object();
  Status build();
  Status persistent_id();
  Result<StorageNode> storage_of(std::span<const NodeId> id);
  Result<StorageNode> view_of(StorageNode storage, NodeId view);

  // The stack. Values below the last mark are out of reach.
  Status push(Node node);
  Result<NodeId> pop(std::string_view expected);
  Result<NodeId> top(std::string_view expected);
  Result<std::vector<NodeId>> pop_to_mark();
  Status append_all(std::span<const NodeId> items);
  Status set_all(std::span<const NodeId> keys_and_values);
  std::size_t in_reach() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }
  template <class T>
  Result<T*> as(NodeId id, std::string_view expected);
  Error corrupt(const std::string& why) const;

  ByteFeed& feed_;
  const GlobalTable allowed_;
  Graph graph_;
  std::vector<NodeId> stack_;
  std::vector<std::size_t> marks_;  // the heights of the stack at each mark
  std::unordered_map<std::uint32_t, NodeId> memo_;
  std::uint64_t place_ = 0;  // of the opcode that is run
};

template <class T>
Result<T*> Unpickler::as(NodeId id, std::string_view expected) {
  T* const node = graph_.as<T>(id);
  if (node != nullptr) return node;
  return corrupt(fmt::format("expected {}, found {}", expected, kind_of(graph_.at(id))));
}

}  // namespace cohort::interchange
