#include "comm/schedule/tree.h"

#include "base/check.h"

#include <algorithm>
#include <optional>

namespace cohort::comm {
namespace {

// One member's position in the tree, counted from the root.
class TreePosition {
 public:
  TreePosition(const Team& team, int root)
      : team_(team), root_(root), here_(around(team.me, -root, team.size())) {}

  int here() const { return here_; }
  bool is_root() const { return here_ == 0; }
  int parent_rank() const { return rank_of(here_ & (here_ - 1)); }
  int rank_of(int position) const { return team_.at(root_ + position); }
  /// In the order of distance: the nearest child has the smallest branch.
  std::vector<int> children() const {
    std::vector<int> children;
    for (int distance = 1; distance < team_.size() && (here_ & distance) == 0; distance *= 2) {
      if (here_ + distance < team_.size()) children.push_back(here_ + distance);
    }
    return children;
  }
  /// The number of members in the branch of a position.
  int branch_size(int position) const {
    const int rest = team_.size() - position;
    return position == 0 ? rest : std::min(position & -position, rest);
  }

 private:
  const Team& team_;
  const int root_, here_;
};

// The parts of a branch as they lie in the root's buffer and, counted from the root, in scratch.
class Branch {
 public:
  Branch(const CallFacts& facts, const TreePosition& position)
      : at_root_(Cut::by(Memory::kOutput, facts.parts)), root_(facts.root), position_(position) {}

  std::vector<Region> pieces(int position) const {
    return at_root_.around(root_ + position, position_.branch_size(position));
  }
  std::size_t length(int position) const {
    std::size_t count = 0;
    for (const Region piece : pieces(position)) count += piece.count;
    return count;
  }

 private:
  const Cut at_root_;
  const int root_;
  const TreePosition& position_;
};

Region in(Memory memory, Region region) {
  return {memory, region.first, region.count};
}

Schedule broadcast(const CallFacts& facts) {
  ScheduleBuilder builder(facts);
  const Region output{Memory::kOutput, 0, facts.count};
  if (facts.rank == facts.root) builder.copy(in(Memory::kInput, output), output);
  tree_broadcast(builder, whole_world(facts), facts.root, output);
  return std::move(builder).finish();
}

// Scratch for each child, so that an early message has its own buffer.
std::vector<Region> buffers_of_children(ScheduleBuilder& builder, const TreePosition& position,
                                        std::size_t count) {
  std::vector<Region> buffers;
  for (std::size_t child = 0; child < position.children().size(); ++child) {
    buffers.push_back(builder.scratch(count));
  }
  return buffers;
}

// On ranks without an output, the sum grows in the buffer of the first message.
Schedule reduce(const CallFacts& facts) {
  ScheduleBuilder builder(facts);
  const Team team = whole_world(facts);
  const TreePosition position(team, facts.root);
  const std::vector<int> children = position.children();
  const std::vector<Region> buffers = buffers_of_children(builder, position, facts.count);
  for (const Region input : chunks_of({Memory::kInput, 0, facts.count}, facts.chunk_length)) {
    Region sum = input;
    if (position.is_root()) {
      sum = in(Memory::kOutput, input);
      builder.copy(input, sum);
    }
    for (std::size_t child = 0; child < children.size(); ++child) {
      const Region arrived = slice(buffers[child], input.first, input.count);
      builder.recv(position.rank_of(children[child]), arrived);
      if (sum.memory == Memory::kInput) {
        builder.combine(input, arrived, Order::kFromFirst);
        sum = arrived;
      } else {
        builder.combine(arrived, sum, Order::kToFirst);
      }
    }
    if (!position.is_root()) builder.send(position.parent_rank(), sum);
  }
  return std::move(builder).finish();
}

Schedule gather(const CallFacts& facts) {
  ScheduleBuilder builder(facts);
  const Team team = whole_world(facts);
  const TreePosition position(team, facts.root);
  const Branch branch(facts, position);
  const Region own{Memory::kInput, 0, facts.parts[static_cast<std::size_t>(facts.rank)]};
  if (position.is_root()) {
    builder.copy(own, Cut::by(Memory::kOutput, facts.parts).part(facts.rank));
    for (const int child : position.children()) {
      for (const Region piece : branch.pieces(child)) builder.recv(position.rank_of(child), piece);
    }
    return std::move(builder).finish();
  }
  Region room = own;
  if (!position.children().empty()) {
    room = builder.scratch(branch.length(position.here()));
    builder.copy(own, slice(room, 0, own.count));
  }
  std::size_t used = own.count;
  for (const int child : position.children()) {
    for (const Region piece : branch.pieces(child)) {
      builder.recv(position.rank_of(child), slice(room, used, piece.count));
      used += piece.count;
    }
  }
  used = 0;
  for (const Region piece : branch.pieces(position.here())) {
    builder.send(position.parent_rank(), slice(room, used, piece.count));
    used += piece.count;
  }
  return std::move(builder).finish();
}

Schedule scatter(const CallFacts& facts) {
  ScheduleBuilder builder(facts);
  const Team team = whole_world(facts);
  const TreePosition position(team, facts.root);
  const Branch branch(facts, position);
  const Region own{Memory::kOutput, 0, facts.parts[static_cast<std::size_t>(facts.rank)]};
  std::vector<int> children = position.children();
  std::reverse(children.begin(), children.end());
  if (position.is_root()) {
    for (const int child : children) {
      for (const Region piece : branch.pieces(child)) {
        builder.send(position.rank_of(child), in(Memory::kInput, piece));
      }
    }
    builder.copy(Cut::by(Memory::kInput, facts.parts).part(facts.rank), own);
    return std::move(builder).finish();
  }
  const Region room = children.empty() ? own : builder.scratch(branch.length(position.here()));
  std::size_t used = 0;
  for (const Region piece : branch.pieces(position.here())) {
    builder.recv(position.parent_rank(), slice(room, used, piece.count));
    used += piece.count;
  }
  for (const int child : children) {
    used -= branch.length(child);
    std::size_t first = used;
    for (const Region piece : branch.pieces(child)) {
      builder.send(position.rank_of(child), slice(room, first, piece.count));
      first += piece.count;
    }
  }
  builder.copy(slice(room, 0, own.count), own);
  return std::move(builder).finish();
}

// The longest branch below the root; its top rank keeps it in scratch. Leaves keep nothing.
std::size_t branch_scratch(const CallFacts& facts) {
  const Team team = whole_world(facts);
  const TreePosition position(team, facts.root);
  const Branch branch(facts, position);
  std::size_t longest = 0;
  for (int here = 1; here < facts.world; ++here) {
    if (position.branch_size(here) > 1) longest = std::max(longest, branch.length(here));
  }
  return longest;
}

}  // namespace

void tree_broadcast(ScheduleBuilder& builder, const Team& team, int root, Region data) {
  const TreePosition position(team, root);
  if (!position.is_root()) builder.recv(position.parent_rank(), data);
  std::vector<int> children = position.children();
  std::reverse(children.begin(), children.end());
  for (const int child : children) builder.send(position.rank_of(child), data);
}

Schedule tree_schedule(const CallFacts& facts) {
  switch (facts.operation) {
    case Operation::kBroadcast:
      return broadcast(facts);
    case Operation::kReduce:
      return reduce(facts);
    case Operation::kGather:
      return gather(facts);
    default:
      COHORT_CHECK_EQ(facts.operation, Operation::kScatter);
      return scatter(facts);
  }
}

Effort tree_effort(const CallFacts& facts) {
  const auto rounds = static_cast<std::size_t>(num_doublings(facts.world));
  const std::size_t all = rounds * facts.count;
  if (facts.operation == Operation::kBroadcast) return {.steps = rounds, .moved = all};
  if (facts.operation == Operation::kReduce) {
    return {.steps = rounds * num_chunks(facts.count, facts.chunk_length),
            .moved = all,
            .combined = all,
            .exposed = rounds * longest_chunk(facts.count, facts.chunk_length),
            .longest = facts.count,
            .scratch = all};
  }
  const std::size_t own = facts.parts[static_cast<std::size_t>(facts.root)];
  return {.steps = rounds, .moved = facts.count - own, .scratch = branch_scratch(facts)};
}

}  // namespace cohort::comm
