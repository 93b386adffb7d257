#include "comm/schedule/halving_doubling.h"

#include "base/check.h"

#include <algorithm>

namespace cohort::comm {
namespace {

// Which ranks stay when the world is folded to a power of two.
struct Fold {
  explicit Fold(int world) {
    while (2 * num_staying <= world) num_staying *= 2;
    num_leaving = world - num_staying;
  }
  bool is_pair(int rank) const { return rank < 2 * num_leaving; }
  bool leaves(int rank) const { return is_pair(rank) && rank % 2 == 0; }
  int position_of(int rank) const { return is_pair(rank) ? rank / 2 : rank - num_leaving; }
  int rank_at(int position) const {
    return position < num_leaving ? 2 * position + 1 : position + num_leaving;
  }

  int num_staying = 1;
  int num_leaving = 0;
};

struct Round {
  int peer = 0;
  Order order = Order::kToFirst;
  Region kept{};
  Region given{};
};

std::vector<Round> rounds_of(const Fold& fold, int position, Region whole) {
  std::vector<Round> rounds;
  for (int distance = 1; distance < fold.num_staying; distance *= 2) {
    const bool is_lower = (position & distance) == 0;
    const Part low = even_part(whole.count, 0, 2);
    const Part high = even_part(whole.count, 1, 2);
    const Part kept = is_lower ? low : high;
    const Part given = is_lower ? high : low;
    rounds.push_back({.peer = fold.rank_at(position ^ distance),
                      .order = is_lower ? Order::kToFirst : Order::kFromFirst,
                      .kept = slice(whole, kept.first, kept.count),
                      .given = slice(whole, given.first, given.count)});
    whole = rounds.back().kept;
  }
  return rounds;
}

// Places for all rounds side by side: what arrives early finds its place.
Region place_for(ScheduleBuilder& builder, const std::vector<Round>& rounds, std::size_t at_least) {
  std::size_t count = 0;
  for (const Round& round : rounds) count += round.kept.count;
  return builder.scratch(std::max(count, at_least));
}

void halve(ScheduleBuilder& builder, const std::vector<Round>& rounds, Region place) {
  std::size_t used = 0;
  for (const Round& round : rounds) {
    const Region arrived = slice(place, used, round.kept.count);
    used += round.kept.count;
    builder.send(round.peer, round.given);
    builder.receive(round.peer, arrived);
    builder.combine(arrived, round.kept, round.order);
  }
}

void double_back(ScheduleBuilder& builder, const std::vector<Round>& rounds) {
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    builder.send(round->peer, round->kept);
    builder.receive(round->peer, round->given);
  }
}

}  // namespace

Schedule halving_doubling_schedule(const CallFacts& facts) {
  COHORT_CHECK_EQ(facts.operation, Operation::kAllReduce);
  ScheduleBuilder builder(facts);
  const Fold fold(facts.world);
  const Region input{Memory::kInput, 0, facts.count};
  const Region output{Memory::kOutput, 0, facts.count};
  if (fold.leaves(facts.rank)) {
    builder.send(facts.rank + 1, input);
    builder.receive(facts.rank + 1, output);
    return std::move(builder).finish();
  }
  builder.copy(input, output);
  const bool is_folded = fold.is_pair(facts.rank);
  const std::vector<Round> rounds = rounds_of(fold, fold.position_of(facts.rank), output);
  const Region place = place_for(builder, rounds, is_folded ? facts.count : 0);
  if (is_folded) {
    builder.receive(facts.rank - 1, slice(place, 0, facts.count));
    builder.combine(slice(place, 0, facts.count), output, Order::kFromFirst);
  }
  halve(builder, rounds, place);
  double_back(builder, rounds);
  if (is_folded) builder.send(facts.rank - 1, output);
  return std::move(builder).finish();
}

Effort halving_doubling_effort(const CallFacts& facts) {
  const Fold fold(facts.world);
  Effort effort;
  std::size_t width = facts.count;  // of the rank that always keeps the longer half
  for (int distance = 1; distance < fold.num_staying; distance *= 2) {
    effort.steps += 2;
    effort.moved += width;
    width = even_part(width, 0, 2).count;
    effort.combined += width;
    effort.scratch += width;
  }
  if (fold.num_leaving == 0) return effort;
  effort.steps += 2;
  effort.moved += 2 * facts.count;  // in at the beginning, out at the end
  effort.combined += facts.count;
  effort.scratch = std::max(effort.scratch, facts.count);
  return effort;
}

}  // namespace cohort::comm
