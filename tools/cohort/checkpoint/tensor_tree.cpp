#include "checkpoint/tensor_tree.h"

#include "base/units.h"
#include "checkpoint/weight_index.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace cohort::tool {
namespace {

using checkpoint::SnapshotTensors;
using checkpoint::WholeTensor;

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// A name of a tensor in its parts: `layers.0.weight/exp_avg` is {layers, 0, weight} and exp_avg.
struct NameParts {
  std::vector<std::string> path{};
  std::string state{};
};

NameParts parts_of(const std::string& name) {
  NameParts parts;
  const auto slash = name.find('/');
  if (slash != std::string::npos) parts.state = name.substr(slash + 1);
  const std::string path = name.substr(0, slash);
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t dot = std::min(path.find('.', at), path.size());
    parts.path.push_back(path.substr(at, dot - at));
    at = dot + 1;
  }
  return parts;
}

std::string size_text(std::uint64_t bytes) {
  return bytes == 0 ? "" : format_bytes(bytes);
}

}  // namespace

bool NameOrder::operator()(const std::string& a, const std::string& b) const {
  const bool both = is_number(a) && is_number(b);
  return both && a.size() != b.size() ? a.size() < b.size() : a < b;
}

TensorTree::TensorTree(const SnapshotTensors& tensors) : tensors_(tensors) {
  for (const WholeTensor& tensor : tensors.all()) add(tensor);
}

void TensorTree::add(const WholeTensor& tensor) {
  const NameParts parts = parts_of(tensor.name);
  const bool is_of_model = checkpoint::is_of_model(tensor.name);
  Node* node = &root_;
  for (const std::string& part : parts.path) {
    auto& child = node->children[part];
    if (!child) child = std::make_unique<Node>();
    node = child.get();
    (is_of_model ? node->model_bytes : node->optimizer_bytes) += tensor.size_bytes();
  }
  if (is_of_model) {
    node->tensor = &tensor;
  } else {
    node->optimizer.push_back(&tensor);
  }
}

observe::Table TensorTree::table(std::size_t depth) const {
  observe::Table table({"tensor", "type", "size", "optimizer", "file"});
  for (const auto& [name, child] : root_.children) add_lines(*child, {name, 0, depth}, table);
  return table;
}

void TensorTree::add_lines(const Node& node, const Place& place, observe::Table& table) const {
  table.add(line(node, place));
  if (place.level + 1 >= place.depth) return;
  for (const auto& [name, child] : node.children)
    add_lines(*child, {name, place.level + 1, place.depth}, table);
}

std::vector<observe::Cell> TensorTree::line(const Node& node, const Place& place) const {
  const std::string name = std::string(2 * place.level, ' ') + place.name;
  std::vector<std::string> states;
  for (const WholeTensor* each : node.optimizer) states.push_back(parts_of(each->name).state);
  const std::string size = size_text(node.optimizer_bytes);
  const std::string optimizer = states.empty() ? size : fmt::format("{}: {}", size, fmt::join(states, ", "));
  if (node.tensor == nullptr) {
    const auto colour = node.children.empty() ? observe::Colour::kNone : observe::Colour::kBold;
    return {{name, colour}, {""}, {size_text(node.model_bytes)}, {optimizer}, {""}};
  }
  return {{name},
          {fmt::format("{} [{}]", cohort::name(node.tensor->dtype), fmt::join(node.tensor->shape, ", "))},
          {format_bytes(node.tensor->size_bytes())},
          {optimizer},
          {files_text(tensors_, *node.tensor)}};
}

std::vector<std::string> files_of(const SnapshotTensors& tensors, const WholeTensor& tensor) {
  std::set<std::string> files;
  for (const std::size_t held : tensor.held) files.insert(tensors.snapshot().file_of(held));
  return {files.begin(), files.end()};
}

std::string files_text(const SnapshotTensors& tensors, const WholeTensor& tensor) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> files = files_of(tensors, tensor);
  const std::size_t count = files.size();
  files.resize(std::min(count, kMost));
  for (std::string& file : files) file = file.substr(0, file.rfind(".safetensors"));
  const std::string more = count > kMost ? fmt::format(" and {} more", count - kMost) : "";
  return fmt::format("{}{}", fmt::join(files, " "), more);
}

}  // namespace cohort::tool
