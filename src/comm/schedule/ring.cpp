#include "comm/schedule/ring.h"

#include "base/check.h"

#include <algorithm>

namespace cohort::comm {
namespace {

// Buffers for arriving partial sums, used in turn. There is one more than chunks: a buffer is free again only
// when its sum was sent on, and with a single buffer every rank would wait for the next rank.
class RingSlots {
 public:
  RingSlots(ScheduleBuilder& builder, std::size_t length, std::size_t number)
      : length_(length), number_(number) {
    whole_ = builder.scratch(length * number);
  }
  Region next(std::size_t count) { return slice(whole_, (used_++ % number_) * length_, count); }

 private:
  const std::size_t length_, number_;
  Region whole_;
  std::size_t used_ = 0;
};

std::size_t num_ring_slots(int world, std::size_t chunks) {
  return std::min(chunks + 1, static_cast<std::size_t>(world - 1) * chunks);
}

}  // namespace

void ring_reduce_scatter(ScheduleBuilder& builder, const Team& team, const Cut& source, Region own,
                         std::size_t chunk_length) {
  const int n = team.size();
  const std::size_t chunks = num_chunks(source.longest(), chunk_length);
  copy_in_chunks(builder, source.part(team.me), own, chunk_length);
  if (n == 1) return;
  RingSlots slots(builder, std::min(source.longest(), chunk_length), num_ring_slots(n, chunks));
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    builder.send(team.at(team.me + 1), chunk_of(source.part(team.me - 1), chunk, chunk_length));
  }
  for (int step = 0; step < n - 1; ++step) {
    const int segment = team.me - 2 - step;
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      const Region mine = chunk_of(source.part(segment), chunk, chunk_length);
      const Region sum = slots.next(mine.count);
      builder.recv(team.at(team.me - 1), sum);
      if (step == n - 2) {
        builder.combine(sum, chunk_of(own, chunk, chunk_length), Order::kFromFirst);
      } else {
        builder.combine(mine, sum, Order::kToFirst);
        builder.send(team.at(team.me + 1), sum);
      }
    }
  }
}

void ring_all_gather(ScheduleBuilder& builder, const Team& team, const Cut& data, std::size_t chunk_length) {
  const std::size_t chunks = num_chunks(data.longest(), chunk_length);
  for (int step = 0; step < team.size() - 1; ++step) {
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      builder.send(team.at(team.me + 1), chunk_of(data.part(team.me - step), chunk, chunk_length));
      builder.recv(team.at(team.me - 1), chunk_of(data.part(team.me - 1 - step), chunk, chunk_length));
    }
  }
}

Schedule ring_schedule(const CallFacts& facts) {
  return schedule_of({ring_reduce_scatter, ring_all_gather}, facts);
}

Effort ring_effort(const CallFacts& facts) {
  const int n = facts.world;
  if (n == 1) return {};
  const bool is_even = facts.operation == Operation::kAllReduce;
  const std::size_t longest = is_even ? even_part(facts.count, 0, n).count
                                      : *std::max_element(facts.parts.begin(), facts.parts.end());
  const std::size_t chunks = num_chunks(longest, facts.chunk_length);
  const std::size_t chunk = std::min(longest, facts.chunk_length);
  const auto others = static_cast<std::size_t>(n - 1);
  const std::size_t scratch = num_ring_slots(n, chunks) * chunk;
  if (is_even) {
    // Each half of the ring leaves out one segment per rank: the own segment in one half, a neighbour's in
    // the other. On the busiest rank these are the two last, which are the shortest.
    const std::size_t shortest = even_part(facts.count, n - 1, n).count;
    const std::size_t beside = even_part(facts.count, n - 2, n).count;
    const std::size_t combined = facts.count - shortest;
    return {.steps = 2 * others * chunks,
            .moved = 2 * facts.count - shortest - beside,
            .combined = combined,
            .exposed = std::min(combined, others * chunk),
            .longest = longest,
            .relayed = 2 * facts.count - shortest - beside,
            .scratch = scratch};
  }
  const std::size_t moved = facts.count - *std::min_element(facts.parts.begin(), facts.parts.end());
  if (facts.operation == Operation::kAllGather) {
    return {.steps = others * chunks, .moved = moved, .longest = longest, .relayed = moved};
  }
  return {.steps = others * chunks,
          .moved = moved,
          .combined = moved,
          .exposed = std::min(moved, others * chunk),
          .longest = longest,
          .relayed = moved,
          .scratch = scratch};
}

}  // namespace cohort::comm
