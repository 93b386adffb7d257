#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cohort::comm {

inline std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

/// Sums as trees over elements of the ranks' inputs. Equal trees are the same Term.
class Terms {
 public:
  using Term = std::uint32_t;
  static constexpr Term kUndefined = 0;

  Term leaf(int rank, std::size_t index) { return find({-1 - rank, static_cast<std::int64_t>(index)}); }
  Term combined(Term left, Term right) { return find({left, right}); }
  /// The term after rounding; a rounded term stays the same.
  Term rounded(Term term) { return is_rounded(term) ? term : find({kRounded, term}); }
  bool is_rounded(Term term) const { return nodes_[term].first == kRounded; }
  /// The same sum without any rounding.
  Term exact(Term term) {
    const Node node = nodes_[term];
    if (node.first == kRounded) return exact(static_cast<Term>(node.second));
    if (node.first < 0 || term == kUndefined) return term;
    return combined(exact(static_cast<Term>(node.first)), exact(static_cast<Term>(node.second)));
  }

  /// `((0.3 1.3) 2.3)`: rank.index of every element, as they were combined.
  std::string text(Term term) const {
    if (term == kUndefined) return "undefined";
    const Node& node = nodes_[term];
    if (node.first == kRounded) return "~" + text(static_cast<Term>(node.second));
    if (node.first < 0) return std::to_string(-1 - node.first) + "." + std::to_string(node.second);
    const auto side = [&](std::int64_t child) { return text(static_cast<Term>(child)); };
    return "(" + side(node.first) + " " + side(node.second) + ")";
  }
  /// (rank, index) of every leaf, from the left.
  std::vector<std::pair<int, std::size_t>> leaves(Term term) const {
    const Node& node = nodes_[term];
    if (node.first == kRounded) return leaves(static_cast<Term>(node.second));
    if (node.first < 0) return {{static_cast<int>(-1 - node.first), static_cast<std::size_t>(node.second)}};
    auto all = leaves(static_cast<Term>(node.first));
    const auto right = leaves(static_cast<Term>(node.second));
    all.insert(all.end(), right.begin(), right.end());
    return all;
  }

 private:
  // (−1 − rank, index), (kRounded, term) or two terms.
  using Node = std::pair<std::int64_t, std::int64_t>;
  static constexpr std::int64_t kRounded = std::numeric_limits<std::int64_t>::min();

  struct Hash {
    std::size_t operator()(const Node& node) const {
      return static_cast<std::size_t>(node.first) * 0x9e3779b97f4a7c15u +
             static_cast<std::size_t>(node.second);
    }
  };
  Term find(Node node) {
    const auto [entry, is_new] = terms_.try_emplace(node, static_cast<Term>(nodes_.size()));
    if (is_new) nodes_.push_back(node);
    return entry->second;
  }

  std::vector<Node> nodes_{{0, 0}};
  std::unordered_map<Node, Term, Hash> terms_;
};

}  // namespace cohort::comm
