#include "comm/schedule/halving_doubling.h"

#include "base/check.h"
#include "comm/schedule/team.h"

#include <algorithm>

namespace cohort::comm {
namespace {

// The ranks that take part in the butterfly when n is not a power of two.
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

struct HalvingRound {
  int peer = 0;
  Order order = Order::kToFirst;
  Region kept{};
  Region given{};
};

std::vector<HalvingRound> rounds_of(const Fold& fold, int position, Region whole) {
  std::vector<HalvingRound> rounds;
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

Region in_input(Region region) {
  return {Memory::kInput, region.first, region.count};
}

// Scratch for all rounds side by side, so that an early message has its own buffer.
Region buffer_for(ScheduleBuilder& builder, const std::vector<HalvingRound>& rounds, std::size_t at_least) {
  std::size_t count = 0;
  for (const HalvingRound& round : rounds) count += round.kept.count;
  return builder.scratch(std::max(count, at_least));
}

// The first round sends straight from the input, and only the kept half is copied to the output; unless the
// input of a folded rank was already combined in the output.
enum class Beginning { kInput, kFolded };

void halve(ScheduleBuilder& builder, const std::vector<HalvingRound>& rounds, Region buffer,
           const CallFacts& facts, Beginning beginning) {
  std::size_t used = 0;
  for (const HalvingRound& round : rounds) {
    const bool from_input = beginning == Beginning::kInput && &round == &rounds.front();
    const std::size_t exchanges =
        num_chunks(std::max(round.kept.count, round.given.count), facts.chunk_length);
    const Region arrived = slice(buffer, used, round.kept.count);
    for (std::size_t chunk = 0; chunk < exchanges; ++chunk) {
      const Region given = chunk_of(round.given, chunk, facts.chunk_length);
      const Region kept = chunk_of(round.kept, chunk, facts.chunk_length);
      const Region came = chunk_of(arrived, chunk, facts.chunk_length);
      builder.send(round.peer, from_input ? in_input(given) : given);
      if (from_input) builder.copy(in_input(kept), kept);
      builder.recv(round.peer, came);
      builder.combine(came, kept, round.order);
      if (&round == &rounds.back()) builder.round(kept);
    }
    used += round.kept.count;
  }
}

void double_back(ScheduleBuilder& builder, const std::vector<HalvingRound>& rounds,
                 std::size_t chunk_length) {
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    const std::size_t exchanges = num_chunks(std::max(round->kept.count, round->given.count), chunk_length);
    for (std::size_t chunk = 0; chunk < exchanges; ++chunk) {
      builder.send(round->peer, chunk_of(round->kept, chunk, chunk_length));
      builder.recv(round->peer, chunk_of(round->given, chunk, chunk_length));
    }
  }
}

// The odd rank of a folded pair receives and combines the input of the even rank.
void take_in(ScheduleBuilder& builder, int peer, Region buffer, const CallFacts& facts) {
  const Region output{Memory::kOutput, 0, facts.count};
  for (const Region chunk : chunks_of(output, facts.chunk_length)) {
    const Region came = slice(buffer, chunk.first, chunk.count);
    builder.copy(in_input(chunk), chunk);
    builder.recv(peer, came);
    builder.combine(came, chunk, Order::kFromFirst);
  }
}

// The even rank of a folded pair only sends its input and receives the result.
void stand_aside(ScheduleBuilder& builder, int peer, const CallFacts& facts) {
  const Region output{Memory::kOutput, 0, facts.count};
  for (const Region chunk : chunks_of(output, facts.chunk_length)) builder.send(peer, in_input(chunk));
  for (const Region chunk : chunks_of(output, facts.chunk_length)) builder.recv(peer, chunk);
}

}  // namespace

Schedule halving_doubling_schedule(const CallFacts& facts) {
  COHORT_CHECK_EQ(facts.operation, Operation::kAllReduce);
  ScheduleBuilder builder(facts);
  const Fold fold(facts.world);
  const Region output{Memory::kOutput, 0, facts.count};
  if (fold.leaves(facts.rank)) {
    stand_aside(builder, facts.rank + 1, facts);
    return std::move(builder).finish();
  }
  const bool is_folded = fold.is_pair(facts.rank);
  const std::vector<HalvingRound> rounds = rounds_of(fold, fold.position_of(facts.rank), output);
  const Region buffer = buffer_for(builder, rounds, is_folded ? facts.count : 0);
  if (is_folded) take_in(builder, facts.rank - 1, slice(buffer, 0, facts.count), facts);
  if (rounds.empty()) builder.copy(in_input(output), output);
  halve(builder, rounds, buffer, facts, is_folded ? Beginning::kFolded : Beginning::kInput);
  double_back(builder, rounds, facts.chunk_length);
  if (is_folded) {
    for (const Region chunk : chunks_of(output, facts.chunk_length)) builder.send(facts.rank - 1, chunk);
  }
  return std::move(builder).finish();
}

Effort halving_doubling_effort(const CallFacts& facts) {
  const Fold fold(facts.world);
  Effort effort;
  std::size_t width = facts.count;  // on the rank that always keeps the longer half
  for (int distance = 1; distance < fold.num_staying; distance *= 2) {
    effort.moved += width;
    width = even_part(width, 0, 2).count;
    effort.steps += 2 * num_chunks(width, facts.chunk_length);
    effort.combined += width;
    effort.exposed += longest_chunk(width, facts.chunk_length);
    effort.longest = std::max(effort.longest, width);
    effort.scratch += width;
  }
  effort.peers = static_cast<std::size_t>(std::max(1, num_doublings(fold.num_staying)));
  if (fold.num_leaving == 0) return effort;
  ++effort.peers;
  effort.steps += 2 * num_chunks(facts.count, facts.chunk_length);
  effort.moved += 2 * facts.count;  // the input of the folded rank at the beginning, its result at the end
  effort.combined += facts.count;
  effort.exposed += longest_chunk(facts.count, facts.chunk_length);
  effort.longest = facts.count;
  effort.scratch = std::max(effort.scratch, facts.count);
  return effort;
}

}  // namespace cohort::comm
