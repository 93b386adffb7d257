#include "comm/schedule/doubling.h"

#include "base/check.h"

#include <algorithm>

namespace cohort::comm {
namespace {

struct DoublingRound {
  int distance = 0;   // to the peer
  int num_parts = 0;  // parts in the message
};

// In the order of all_gather; reduce_scatter runs them backwards.
std::vector<DoublingRound> rounds_of(int n) {
  std::vector<DoublingRound> rounds;
  for (int distance = 1; distance < n; distance *= 2) {
    rounds.push_back({distance, std::min(distance, n - distance)});
  }
  return rounds;
}

std::size_t length_of(const std::vector<Region>& regions) {
  std::size_t count = 0;
  for (const Region region : regions) count += region.count;
  return count;
}

void send_in_chunks(ScheduleBuilder& builder, int peer, Region region, std::size_t chunk_length) {
  for (const Region chunk : chunks_of(region, chunk_length)) builder.send(peer, chunk);
}

// Begins the partial sums of the parts from `me` on, in the first round of reducing. An arriving part is
// added to the own input; a part that no message arrives for begins with the own input alone.
Region begin_sums(ScheduleBuilder& builder, const Team& team, const Cut& source, const DoublingRound& round,
                  std::size_t chunk_length) {
  for (const Region part : source.around(team.me + round.distance, round.num_parts)) {
    send_in_chunks(builder, team.at(team.me + round.distance), part, chunk_length);
  }
  const Region sums = builder.scratch(length_of(source.around(team.me, round.distance)));
  std::size_t used = 0;
  for (const Region run : source.around(team.me, round.num_parts)) {
    for (const Region mine : chunks_of(run, chunk_length)) {
      const Region sum = slice(sums, used, mine.count);
      builder.recv(team.at(team.me - round.distance), sum);
      builder.combine(mine, sum, Order::kFromFirst);
      used += mine.count;
    }
  }
  for (const Region mine : source.around(team.me + round.num_parts, round.distance - round.num_parts)) {
    builder.copy(mine, slice(sums, used, mine.count));
    used += mine.count;
  }
  return sums;
}

// Elements that the busiest rank moves.
struct Extent {
  std::size_t apart = 0;    // all parts but the own
  std::size_t near = 0;     // the parts from the own on, once per round
  std::size_t both = 0;     // apart + near
  std::size_t scratch = 0;  // for reducing
};

Extent extent_of(const Cut& cut) {
  const int n = cut.num_parts();
  const std::vector<DoublingRound> rounds = rounds_of(n);
  Extent extent;
  for (int rank = 0; rank < n && n > 1; ++rank) {
    std::size_t near = 0;
    for (const DoublingRound& round : rounds) near += length_of(cut.around(rank, round.num_parts));
    const std::size_t apart = length_of(cut.around(rank + 1, n - 1));
    const std::size_t last = length_of(cut.around(rank, rounds.back().num_parts));
    const std::size_t sums = length_of(cut.around(rank, rounds.back().distance));
    extent.apart = std::max(extent.apart, apart);
    extent.near = std::max(extent.near, near);
    extent.both = std::max(extent.both, apart + near);
    extent.scratch = std::max(extent.scratch, sums + near - last);
  }
  return extent;
}

// The messages of the busiest rank, counted as if all parts were as long as the longest.
struct Passage {
  std::size_t gather_steps = 0;
  std::size_t reduce_steps = 0;
  std::size_t exposed = 0;
  std::size_t longest = 0;
};

Passage passage_of(const Cut& cut, std::size_t chunk_length) {
  const std::vector<DoublingRound> rounds = rounds_of(cut.num_parts());
  Passage passage;
  for (const DoublingRound& round : rounds) {
    const std::size_t run = static_cast<std::size_t>(round.num_parts) * cut.longest();
    const std::size_t messages = num_chunks(run, chunk_length);
    const std::size_t passing_the_end = round.num_parts > 1 ? 1 : 0;
    passage.gather_steps += messages + passing_the_end;
    passage.reduce_steps += messages + (&round == &rounds.back() ? passing_the_end : 0);
    passage.exposed += longest_chunk(run, chunk_length);
    passage.longest = std::max(passage.longest, run);
  }
  return passage;
}

}  // namespace

void doubling_reduce_scatter(ScheduleBuilder& builder, const Team& team, const Cut& source, Region own,
                             std::size_t chunk_length) {
  std::vector<DoublingRound> rounds = rounds_of(team.size());
  if (rounds.empty()) return builder.copy(source.part(team.me), own);
  const Region sums = begin_sums(builder, team, source, rounds.back(), chunk_length);
  rounds.pop_back();
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    const std::size_t kept = length_of(source.around(team.me, round->distance));
    const std::size_t given = length_of(source.around(team.me + round->distance, round->num_parts));
    send_in_chunks(builder, team.at(team.me + round->distance), slice(sums, kept, given), chunk_length);
    const Region arrived = builder.scratch(kept);
    for (std::size_t chunk = 0; chunk < num_chunks(kept, chunk_length); ++chunk) {
      const Region came = chunk_of(arrived, chunk, chunk_length);
      builder.recv(team.at(team.me - round->distance), came);
      builder.combine(came, chunk_of(slice(sums, 0, kept), chunk, chunk_length), Order::kToFirst);
    }
  }
  copy_in_chunks(builder, slice(sums, 0, own.count), own, chunk_length);
}

void doubling_all_gather(ScheduleBuilder& builder, const Team& team, const Cut& data,
                         std::size_t chunk_length) {
  for (const DoublingRound& round : rounds_of(team.size())) {
    for (const Region part : data.around(team.me, round.num_parts)) {
      send_in_chunks(builder, team.at(team.me - round.distance), part, chunk_length);
    }
    for (const Region part : data.around(team.me + round.distance, round.num_parts)) {
      for (const Region chunk : chunks_of(part, chunk_length)) {
        builder.recv(team.at(team.me + round.distance), chunk);
      }
    }
  }
}

Schedule doubling_schedule(const CallFacts& facts) {
  return schedule_of({doubling_reduce_scatter, doubling_all_gather}, facts);
}

Effort doubling_effort(const CallFacts& facts) {
  if (facts.world == 1) return {};
  const bool is_even = facts.operation == Operation::kAllReduce;
  const Cut cut = is_even ? Cut::evenly({Memory::kOutput, 0, facts.count}, facts.world)
                          : Cut::by(Memory::kOutput, facts.parts);
  const Extent extent = extent_of(cut);
  const Passage passage = passage_of(cut, facts.chunk_length);
  const auto peers = static_cast<std::size_t>(std::min(2 * num_doublings(facts.world), facts.world - 1));
  if (facts.operation == Operation::kAllGather) {
    return {.steps = passage.gather_steps,
            .moved = std::max(extent.apart, extent.near),
            .longest = passage.longest,
            .peers = peers};
  }
  return {.steps = passage.reduce_steps + (is_even ? passage.gather_steps : 0),
          .moved = is_even ? extent.both : std::max(extent.apart, extent.near),
          .combined = extent.near,
          .exposed = std::min(extent.near, passage.exposed),
          .longest = passage.longest,
          .peers = peers,
          .scratch = extent.scratch};
}

}  // namespace cohort::comm
