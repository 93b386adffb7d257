#include "comm/schedule/star.h"

#include "base/check.h"
#include "comm/schedule/fold.h"

namespace cohort::comm {
namespace {

std::vector<int> others(const CallFacts& facts) {
  std::vector<int> ranks;
  for (int distance = 1; distance < facts.world; ++distance) {
    ranks.push_back(around(facts.root, distance, facts.world));
  }
  return ranks;
}

std::size_t own_count(const CallFacts& facts) {
  return facts.parts[static_cast<std::size_t>(facts.rank)];
}

void broadcast(ScheduleBuilder& builder, const CallFacts& facts) {
  const Region output{Memory::kOutput, 0, facts.count};
  if (facts.rank != facts.root) return builder.recv(facts.root, output);
  builder.copy({Memory::kInput, 0, facts.count}, output);
  for (const int rank : others(facts)) builder.send(rank, output);
}

void reduce(ScheduleBuilder& builder, const CallFacts& facts) {
  const Region input{Memory::kInput, 0, facts.count};
  if (facts.rank != facts.root) {
    for (const Region chunk : chunks_of(input, facts.chunk_length)) builder.send(facts.root, chunk);
    return;
  }
  const Region output{Memory::kOutput, 0, facts.count};
  copy_in_chunks(builder, input, output, facts.chunk_length);
  fold_in_order(builder, whole_world(facts), output, FoldRoom::kTwo, facts.chunk_length);
}

void gather(ScheduleBuilder& builder, const CallFacts& facts) {
  const Region own{Memory::kInput, 0, own_count(facts)};
  if (facts.rank != facts.root) {
    builder.send(facts.root, own);
    return;
  }
  const Cut to = Cut::by(Memory::kOutput, facts.parts);
  builder.copy(own, to.part(facts.rank));
  for (const int rank : others(facts)) builder.recv(rank, to.part(rank));
}

void scatter(ScheduleBuilder& builder, const CallFacts& facts) {
  const Region own{Memory::kOutput, 0, own_count(facts)};
  if (facts.rank != facts.root) return builder.recv(facts.root, own);
  const Cut from = Cut::by(Memory::kInput, facts.parts);
  for (const int rank : others(facts)) builder.send(rank, from.part(rank));
  builder.copy(from.part(facts.rank), own);
}

void barrier(ScheduleBuilder& builder, const CallFacts& facts) {
  if (facts.rank != facts.root) {
    builder.send_signal(facts.root);
    builder.receive_signal(facts.root);
    return;
  }
  std::vector<int> arrivals;
  for (const int rank : others(facts)) arrivals.push_back(builder.receive_signal(rank));
  for (const int rank : others(facts)) builder.send_signal(rank, arrivals);
}

}  // namespace

Schedule star_schedule(const CallFacts& facts) {
  ScheduleBuilder builder(facts);
  switch (facts.operation) {
    case Operation::kBroadcast:
      broadcast(builder, facts);
      break;
    case Operation::kReduce:
      reduce(builder, facts);
      break;
    case Operation::kGather:
      gather(builder, facts);
      break;
    case Operation::kScatter:
      scatter(builder, facts);
      break;
    default:
      COHORT_CHECK_EQ(facts.operation, Operation::kBarrier);
      barrier(builder, facts);
  }
  return std::move(builder).finish();
}

Effort star_effort(const CallFacts& facts) {
  const auto others = static_cast<std::size_t>(facts.world - 1);
  const std::size_t all = others * facts.count;
  switch (facts.operation) {
    case Operation::kBarrier:
      return {.steps = 2 * others};
    case Operation::kBroadcast:
      return {.steps = others, .moved = all};
    case Operation::kReduce:
      return {.steps = others * num_chunks(facts.count, facts.chunk_length),
              .moved = all,
              .combined = all,
              .exposed = others * longest_chunk(facts.count, facts.chunk_length),
              .longest = facts.count,
              .scratch = fold_scratch(facts.root, facts.world, facts.count, FoldRoom::kTwo)};
    default:
      return {.steps = others, .moved = facts.count - facts.parts[static_cast<std::size_t>(facts.root)]};
  }
}

}  // namespace cohort::comm
