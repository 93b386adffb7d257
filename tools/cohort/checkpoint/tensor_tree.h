#pragma once

#include "checkpoint/whole_tensors.h"
#include "observe/table.h"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cohort::tool {

/// Orders the parts of dotted names as people count: 2 before 10.
struct NameOrder {
  bool operator()(const std::string& a, const std::string& b) const;
};

/// The tensors of a snapshot by their dotted names, as the modules of a model contain them; the state that an
/// optimizer keeps for a tensor is beside it.
///
/// Lifetime: the tensors must outlive it.
class TensorTree {
 public:
  explicit TensorTree(const checkpoint::SnapshotTensors& tensors);

  /// Lines for modules and tensors; modules of this depth stand for everything in them.
  observe::Table table(std::size_t depth) const;

 private:
  struct Node {
    std::map<std::string, std::unique_ptr<Node>, NameOrder> children{};
    const checkpoint::WholeTensor* tensor = nullptr;
    std::vector<const checkpoint::WholeTensor*> optimizer{};
    std::uint64_t model_bytes = 0;  // of it and of everything in it
    std::uint64_t optimizer_bytes = 0;
  };
  /// Where a line is.
  struct Place {
    std::string name{};
    std::size_t level = 0;
    std::size_t depth = 0;
  };

  void add(const checkpoint::WholeTensor& tensor);
  void add_lines(const Node& node, const Place& place, observe::Table& table) const;
  std::vector<observe::Cell> line(const Node& node, const Place& place) const;

  const checkpoint::SnapshotTensors& tensors_;
  Node root_;
};

/// The files that have parts of a tensor, without `.safetensors`.
std::string files_text(const checkpoint::SnapshotTensors& tensors, const checkpoint::WholeTensor& tensor);
/// The same files, with their whole names.
std::vector<std::string> files_of(const checkpoint::SnapshotTensors& tensors,
                                  const checkpoint::WholeTensor& tensor);

}  // namespace cohort::tool
