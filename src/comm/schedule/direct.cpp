#include "comm/schedule/direct.h"

#include "base/check.h"
#include "comm/schedule/fold.h"

#include <algorithm>

namespace cohort::comm {
namespace {

Schedule all_to_all(const CallFacts& facts) {
  ScheduleBuilder builder(facts);
  const Cut from = Cut::by(Memory::kInput, facts.parts);
  const Cut to = Cut::by(Memory::kOutput, facts.arriving);
  builder.copy(from.part(facts.rank), to.part(facts.rank));
  for (int distance = 1; distance < facts.world; ++distance) {
    const int target = around(facts.rank, distance, facts.world);
    const int source = around(facts.rank, -distance, facts.world);
    builder.send(target, from.part(target));
    builder.recv(source, to.part(source));
  }
  return std::move(builder).finish();
}

Schedule all_reduce_at_once(const CallFacts& facts) {
  ScheduleBuilder builder(facts);
  const Team team = whole_world(facts);
  const Region output{Memory::kOutput, 0, facts.count};
  const std::vector<Region> chunks = chunks_of(output, facts.chunk_length);
  for (const Region chunk : chunks) {
    builder.copy({Memory::kInput, chunk.first, chunk.count}, chunk);
    builder.round(chunk);
    for (int distance = 1; distance < facts.world; ++distance) {
      builder.send(team.at(facts.rank + distance), chunk);
    }
  }
  fold_in_order(builder, team, output, FoldRoom::kAll, facts.chunk_length);
  for (const Region chunk : chunks) builder.round(chunk);
  return std::move(builder).finish();
}

Effort all_to_all_effort(const CallFacts& facts) {
  const auto own = static_cast<std::size_t>(facts.rank);
  const std::size_t arriving = first_of_part(facts.arriving, facts.world) - facts.arriving[own];
  return {.steps = static_cast<std::size_t>(facts.world - 1),
          .moved = std::max(facts.count - facts.parts[own], arriving)};
}

}  // namespace

// The loop over chunks is the outer one, so that every peer can begin with the first chunk.
void direct_reduce_scatter(ScheduleBuilder& builder, const Team& team, const Cut& source, Region own,
                           std::size_t chunk_length) {
  const std::size_t rounds = num_chunks(source.longest(), chunk_length);
  for (std::size_t round = 0; round < rounds; ++round) {
    for (int distance = 1; distance < team.size(); ++distance) {
      const Region part = source.part(team.me + distance);
      builder.send(team.at(team.me + distance), chunk_of(part, round, chunk_length));
    }
  }
  copy_in_chunks(builder, source.part(team.me), own, chunk_length);
  fold_in_order(builder, team, own, FoldRoom::kAll, chunk_length);
}

void direct_all_gather(ScheduleBuilder& builder, const Team& team, const Cut& data,
                       std::size_t chunk_length) {
  const std::size_t rounds = num_chunks(data.longest(), chunk_length);
  for (std::size_t round = 0; round < rounds; ++round) {
    for (int distance = 1; distance < team.size(); ++distance) {
      builder.send(team.at(team.me + distance), chunk_of(data.part(team.me), round, chunk_length));
      builder.recv(team.at(team.me - distance), chunk_of(data.part(team.me - distance), round, chunk_length));
    }
  }
}

Schedule direct_schedule(const CallFacts& facts) {
  if (facts.operation == Operation::kAllToAll) return all_to_all(facts);
  if (facts.operation == Operation::kAllReduce) return all_reduce_at_once(facts);
  return schedule_of({direct_reduce_scatter, direct_all_gather}, facts);
}

Effort direct_effort(const CallFacts& facts) {
  if (facts.operation == Operation::kAllToAll) return all_to_all_effort(facts);
  const auto others = static_cast<std::size_t>(facts.world - 1);
  if (facts.operation == Operation::kAllReduce) {
    const std::size_t all = others * facts.count;
    return {.steps = others * num_chunks(facts.count, facts.chunk_length),
            .moved = all,
            .combined = all,
            .exposed = others * longest_chunk(facts.count, facts.chunk_length),
            .longest = facts.count,
            .peers = std::max<std::size_t>(others, 1),
            .scratch = all};
  }
  const auto [shortest, longest] = std::minmax_element(facts.parts.begin(), facts.parts.end());
  const std::size_t steps = others * num_chunks(*longest, facts.chunk_length);
  const std::size_t moved = std::max(facts.count - *shortest, others * *longest);
  const std::size_t peers = std::max<std::size_t>(others, 1);
  if (facts.operation == Operation::kAllGather) {
    return {.steps = steps, .moved = moved, .longest = *longest, .peers = peers};
  }
  return {.steps = steps,
          .moved = moved,
          .combined = others * *longest,
          .exposed = others * longest_chunk(*longest, facts.chunk_length),
          .longest = *longest,
          .peers = peers,
          .scratch = others * *longest};
}

Schedule split_schedule(const CallFacts& facts) {
  COHORT_CHECK_EQ(facts.operation, Operation::kAllReduce);
  return schedule_of({direct_reduce_scatter, direct_all_gather}, facts);
}

Effort split_effort(const CallFacts& facts) {
  if (facts.world == 1) return {};
  const auto others = static_cast<std::size_t>(facts.world - 1);
  const std::size_t longest = even_part(facts.count, 0, facts.world).count;
  return {.steps = 2 * others * num_chunks(longest, facts.chunk_length),
          .moved = facts.count + (others - 1) * longest,
          .combined = others * longest,
          .exposed = others * longest_chunk(longest, facts.chunk_length),
          .longest = longest,
          .peers = others,
          .scratch = others * longest};
}

}  // namespace cohort::comm
