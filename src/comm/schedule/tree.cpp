#include "comm/schedule/tree.h"

#include "base/check.h"

#include <algorithm>
#include <optional>

namespace cohort::comm {
namespace {

// One member's place in the tree, counted from the root.
class Place {
 public:
  Place(const Team& team, int root) : team_(team), root_(root), here_(around(team.me, -root, team.size())) {}

  int here() const { return here_; }
  bool is_root() const { return here_ == 0; }
  int parent_rank() const { return rank_of(here_ & (here_ - 1)); }
  int rank_of(int place) const { return team_.at(root_ + place); }
  /// From the nearest, whose branch is the smallest.
  std::vector<int> children() const {
    std::vector<int> children;
    for (int distance = 1; distance < team_.size() && (here_ & distance) == 0; distance *= 2) {
      if (here_ + distance < team_.size()) children.push_back(here_ + distance);
    }
    return children;
  }
  /// How many members the branch of a place has.
  int branch_size(int place) const {
    const int rest = team_.size() - place;
    return place == 0 ? rest : std::min(place & -place, rest);
  }

 private:
  const Team& team_;
  const int root_, here_;
};

// The parts of a branch, as they lie in the root's memory and, from the root round the circle, in scratch.
class Branch {
 public:
  Branch(const CallFacts& facts, const Place& place)
      : at_root_(Cut::by(Memory::kOutput, facts.parts)), root_(facts.root), place_(place) {}

  std::vector<Region> pieces(int place) const {
    return at_root_.around(root_ + place, place_.branch_size(place));
  }
  std::size_t length(int place) const {
    std::size_t count = 0;
    for (const Region piece : pieces(place)) count += piece.count;
    return count;
  }

 private:
  const Cut at_root_;
  const int root_;
  const Place& place_;
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

// The children of a member each have a place of their own: what arrives early finds it.
std::vector<Region> places_of_children(ScheduleBuilder& builder, const Place& place, std::size_t count) {
  std::vector<Region> places;
  for (std::size_t child = 0; child < place.children().size(); ++child) {
    places.push_back(builder.scratch(count));
  }
  return places;
}

// Where there is no output, what arrives first is where the sum grows.
Schedule reduce(const CallFacts& facts) {
  ScheduleBuilder builder(facts);
  const Team team = whole_world(facts);
  const Place place(team, facts.root);
  const std::vector<int> children = place.children();
  const std::vector<Region> places = places_of_children(builder, place, facts.count);
  for (const Region input : chunks_of({Memory::kInput, 0, facts.count}, facts.chunk_length)) {
    Region sum = input;
    if (place.is_root()) {
      sum = in(Memory::kOutput, input);
      builder.copy(input, sum);
    }
    for (std::size_t child = 0; child < children.size(); ++child) {
      const Region arrived = slice(places[child], input.first, input.count);
      builder.receive(place.rank_of(children[child]), arrived);
      if (sum.memory == Memory::kInput) {
        builder.combine(input, arrived, Order::kFromFirst);
        sum = arrived;
      } else {
        builder.combine(arrived, sum, Order::kToFirst);
      }
    }
    if (!place.is_root()) builder.send(place.parent_rank(), sum);
  }
  return std::move(builder).finish();
}

Schedule gather(const CallFacts& facts) {
  ScheduleBuilder builder(facts);
  const Team team = whole_world(facts);
  const Place place(team, facts.root);
  const Branch branch(facts, place);
  const Region own{Memory::kInput, 0, facts.parts[static_cast<std::size_t>(facts.rank)]};
  if (place.is_root()) {
    builder.copy(own, Cut::by(Memory::kOutput, facts.parts).part(facts.rank));
    for (const int child : place.children()) {
      for (const Region piece : branch.pieces(child)) builder.receive(place.rank_of(child), piece);
    }
    return std::move(builder).finish();
  }
  Region room = own;
  if (!place.children().empty()) {
    room = builder.scratch(branch.length(place.here()));
    builder.copy(own, slice(room, 0, own.count));
  }
  std::size_t used = own.count;
  for (const int child : place.children()) {
    for (const Region piece : branch.pieces(child)) {
      builder.receive(place.rank_of(child), slice(room, used, piece.count));
      used += piece.count;
    }
  }
  used = 0;
  for (const Region piece : branch.pieces(place.here())) {
    builder.send(place.parent_rank(), slice(room, used, piece.count));
    used += piece.count;
  }
  return std::move(builder).finish();
}

Schedule scatter(const CallFacts& facts) {
  ScheduleBuilder builder(facts);
  const Team team = whole_world(facts);
  const Place place(team, facts.root);
  const Branch branch(facts, place);
  const Region own{Memory::kOutput, 0, facts.parts[static_cast<std::size_t>(facts.rank)]};
  std::vector<int> children = place.children();
  std::reverse(children.begin(), children.end());
  if (place.is_root()) {
    for (const int child : children) {
      for (const Region piece : branch.pieces(child)) {
        builder.send(place.rank_of(child), in(Memory::kInput, piece));
      }
    }
    builder.copy(Cut::by(Memory::kInput, facts.parts).part(facts.rank), own);
    return std::move(builder).finish();
  }
  const Region room = children.empty() ? own : builder.scratch(branch.length(place.here()));
  std::size_t used = 0;
  for (const Region piece : branch.pieces(place.here())) {
    builder.receive(place.parent_rank(), slice(room, used, piece.count));
    used += piece.count;
  }
  for (const int child : children) {
    used -= branch.length(child);
    std::size_t first = used;
    for (const Region piece : branch.pieces(child)) {
      builder.send(place.rank_of(child), slice(room, first, piece.count));
      first += piece.count;
    }
  }
  builder.copy(slice(room, 0, own.count), own);
  return std::move(builder).finish();
}

// The longest branch below the root is what somebody keeps in scratch; leaves keep nothing.
std::size_t branch_scratch(const CallFacts& facts) {
  const Team team = whole_world(facts);
  const Place place(team, facts.root);
  const Branch branch(facts, place);
  std::size_t longest = 0;
  for (int here = 1; here < facts.world; ++here) {
    if (place.branch_size(here) > 1) longest = std::max(longest, branch.length(here));
  }
  return longest;
}

}  // namespace

void tree_broadcast(ScheduleBuilder& builder, const Team& team, int root, Region data) {
  const Place place(team, root);
  if (!place.is_root()) builder.receive(place.parent_rank(), data);
  std::vector<int> children = place.children();
  std::reverse(children.begin(), children.end());
  for (const int child : children) builder.send(place.rank_of(child), data);
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
