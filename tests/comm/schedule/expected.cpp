#include "expected.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace cohort::comm {
namespace {

using Term = Terms::Term;
using Leaves = std::vector<Term>;

Term from_the_left(Terms& terms, const Leaves& leaves) {
  return std::accumulate(leaves.begin() + 1, leaves.end(), leaves.front(),
                         [&](Term sum, Term next) { return terms.combined(sum, next); });
}

// ((x[k+1] ∘ x[k+2]) ∘ …) ∘ x[k].
Term ring_order(Terms& terms, Leaves leaves, int owner) {
  std::rotate(leaves.begin(), leaves.begin() + (owner + 1) % static_cast<int>(leaves.size()), leaves.end());
  return from_the_left(terms, leaves);
}

// sum(d) = x[d] ∘ sum(d + s), over the powers of two s > d, greatest first; d counted backwards from the
// owner.
Term doubling_order(Terms& terms, const Leaves& leaves, int owner, int distance = 0) {
  const auto n = static_cast<int>(leaves.size());
  Term sum = leaves[at((owner - distance + n) % n)];
  int power = 1;
  while (2 * power < n) power *= 2;
  for (; power > distance; power /= 2) {
    if (distance + power < n)
      sum = terms.combined(sum, doubling_order(terms, leaves, owner, distance + power));
  }
  return sum;
}

Term balanced(Terms& terms, const Leaves& leaves) {
  if (leaves.size() == 1) return leaves.front();
  const auto middle = leaves.begin() + static_cast<std::ptrdiff_t>(leaves.size() / 2);
  const Term left = balanced(terms, Leaves(leaves.begin(), middle));
  return terms.combined(left, balanced(terms, Leaves(middle, leaves.end())));
}

Term halving_order(Terms& terms, const Leaves& leaves) {
  std::size_t power = 1;
  while (2 * power <= leaves.size()) power *= 2;
  Leaves folded;
  std::size_t rank = 0;
  for (; rank < 2 * (leaves.size() - power); rank += 2)
    folded.push_back(terms.combined(leaves[rank], leaves[rank + 1]));
  for (; rank < leaves.size(); ++rank) folded.push_back(leaves[rank]);
  return balanced(terms, folded);
}

// sum(v) = ((x[v] ∘ sum(v+1)) ∘ sum(v+2)) ∘ …; a branch is a run of ranks, counted from the root.
Term tree_order(Terms& terms, const Leaves& leaves, int root) {
  const auto n = static_cast<int>(leaves.size());
  const std::function<Term(int, int)> sum_of = [&](int first, int size) {
    Term sum = leaves[at((root + first) % n)];
    for (int half = 1; half < size; half *= 2) {
      if (first + half < n) sum = terms.combined(sum, sum_of(first + half, half));
    }
    return sum;
  };
  return sum_of(0, n);
}

int owner_of(std::size_t index, std::size_t count, int num_parts) {
  for (int part = 0; part < num_parts; ++part) {
    const Part span = even_part(count, part, num_parts);
    if (index >= span.first && index < span.first + span.count) return part;
  }
  return 0;
}

int owner_of(std::size_t index, const CallFacts& facts) {
  if (facts.parts.empty()) return owner_of(index, facts.count, facts.world);
  int part = 0;
  for (std::size_t end = facts.parts[0]; index >= end; end += facts.parts[at(part)]) ++part;
  return part;
}

Term hierarchical_order(Terms& terms, const Leaves& leaves, const CallFacts& facts, std::size_t index) {
  std::vector<int> labels;
  std::map<int, Leaves> by_label;
  for (int rank = 0; rank < facts.world; ++rank) {
    const int label = facts.hosts[at(rank)];
    if (by_label[label].empty()) labels.push_back(label);
    by_label[label].push_back(leaves[at(rank)]);
  }
  Leaves sums;
  std::size_t num_segments = leaves.size();
  for (const int label : labels) {
    sums.push_back(from_the_left(terms, by_label[label]));
    num_segments = std::min(num_segments, by_label[label].size());
  }
  if (facts.operation == Operation::kReduceScatter) return from_the_left(terms, sums);
  const int segment = owner_of(index, facts.count, static_cast<int>(num_segments));
  const Part span = even_part(facts.count, segment, static_cast<int>(num_segments));
  const auto num_hosts = static_cast<int>(sums.size());
  return doubling_order(terms, sums, owner_of(index - span.first, span.count, num_hosts));
}

}  // namespace

Term expected_sum(Terms& terms, std::string_view algorithm, const CallFacts& facts, std::size_t index) {
  Leaves leaves;
  for (int rank = 0; rank < facts.world; ++rank) leaves.push_back(terms.leaf(rank, index));
  if (algorithm == "ring") return ring_order(terms, leaves, owner_of(index, facts));
  if (algorithm == "doubling") return doubling_order(terms, leaves, owner_of(index, facts));
  if (algorithm == "halving_doubling") return halving_order(terms, leaves);
  if (algorithm == "tree") return tree_order(terms, leaves, facts.root);
  if (algorithm == "hierarchical") return hierarchical_order(terms, leaves, facts, index);
  return from_the_left(terms, leaves);
}

std::size_t input_count(const CallFacts& facts) {
  const bool is_root = facts.rank == facts.root;
  switch (facts.operation) {
    case Operation::kAllGather:
    case Operation::kGather:
      return facts.parts[at(facts.rank)];
    case Operation::kScatter:
      return is_root ? facts.count : 0;
    case Operation::kBroadcast:
      return facts.count;
    default:
      return facts.count;
  }
}

std::size_t output_count(const CallFacts& facts) {
  const bool is_root = facts.rank == facts.root;
  switch (facts.operation) {
    case Operation::kReduce:
    case Operation::kGather:
      return is_root ? facts.count : 0;
    case Operation::kReduceScatter:
    case Operation::kScatter:
      return facts.parts[at(facts.rank)];
    case Operation::kAllToAll:
      return first_of_part(facts.arriving, facts.world);
    default:
      return facts.count;
  }
}

std::vector<Term> expected_output(Terms& terms, std::string_view algorithm, const CallFacts& facts) {
  std::vector<Term> output;
  const std::size_t count = output_count(facts);
  const std::size_t own_first = facts.parts.empty() ? 0 : first_of_part(facts.parts, facts.rank);
  for (std::size_t i = 0; i < count; ++i) {
    switch (facts.operation) {
      case Operation::kAllReduce:
      case Operation::kReduce:
        output.push_back(expected_sum(terms, algorithm, facts, i));
        break;
      case Operation::kReduceScatter:
        output.push_back(expected_sum(terms, algorithm, facts, own_first + i));
        break;
      case Operation::kBroadcast:
        output.push_back(terms.leaf(facts.root, i));
        break;
      case Operation::kScatter:
        output.push_back(terms.leaf(facts.root, own_first + i));
        break;
      case Operation::kAllGather:
      case Operation::kGather: {
        const int part = owner_of(i, facts);
        output.push_back(terms.leaf(part, i - first_of_part(facts.parts, part)));
        break;
      }
      default:
        break;
    }
  }
  return output;
}

}  // namespace cohort::comm
