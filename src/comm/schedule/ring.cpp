#include "comm/schedule/ring.h"

#include "base/check.h"

#include <algorithm>

namespace cohort::comm {
namespace {

Region chunk_of(Region segment, int chunk, int chunks) {
  const Part part = even_part(segment.count, chunk, chunks);
  return slice(segment, part.first, part.count);
}

std::size_t divided_up(std::size_t count, std::size_t by) {
  return (count + by - 1) / by;
}

// Places for arriving partial sums, used in turn. One more than there are chunks: a place is free again only
// when its sum was passed on, and with a single one every rank would wait for the next.
class Places {
 public:
  Places(ScheduleBuilder& builder, std::size_t length, std::size_t number)
      : length_(length), number_(number) {
    whole_ = builder.scratch(length * number);
  }
  Region next(std::size_t count) { return slice(whole_, (used_++ % number_) * length_, count); }

 private:
  const std::size_t length_, number_;
  Region whole_;
  std::size_t used_ = 0;
};

std::size_t longest_part(const Cut& cut) {
  std::size_t longest = 0;
  for (int part = 0; part < cut.num_parts(); ++part) longest = std::max(longest, cut.part(part).count);
  return longest;
}

std::size_t num_places(int world, int chunks) {
  return std::min(static_cast<std::size_t>(chunks) + 1, static_cast<std::size_t>((world - 1) * chunks));
}

}  // namespace

void ring_reduce_scatter(ScheduleBuilder& builder, const Team& team, const Cut& source, Region own,
                         int chunks) {
  const int n = team.size();
  builder.copy(source.part(team.me), own);
  if (n == 1) return;
  const std::size_t length = divided_up(longest_part(source), static_cast<std::size_t>(chunks));
  Places places(builder, length, num_places(n, chunks));
  for (int chunk = 0; chunk < chunks; ++chunk) {
    builder.send(team.at(team.me + 1), chunk_of(source.part(team.me - 1), chunk, chunks));
  }
  for (int step = 0; step < n - 1; ++step) {
    const int segment = team.me - 2 - step;
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const Region mine = chunk_of(source.part(segment), chunk, chunks);
      const Region sum = places.next(mine.count);
      builder.receive(team.at(team.me - 1), sum);
      if (step == n - 2) {
        builder.combine(sum, chunk_of(own, chunk, chunks), Order::kFromFirst);
      } else {
        builder.combine(mine, sum, Order::kToFirst);
        builder.send(team.at(team.me + 1), sum);
      }
    }
  }
}

void ring_all_gather(ScheduleBuilder& builder, const Team& team, const Cut& data, int chunks) {
  for (int step = 0; step < team.size() - 1; ++step) {
    for (int chunk = 0; chunk < chunks; ++chunk) {
      builder.send(team.at(team.me + 1), chunk_of(data.part(team.me - step), chunk, chunks));
      builder.receive(team.at(team.me - 1), chunk_of(data.part(team.me - 1 - step), chunk, chunks));
    }
  }
}

Schedule ring_schedule(const CallFacts& facts) {
  ScheduleBuilder builder(facts);
  const Team team = whole_world(facts);
  if (facts.operation == Operation::kAllReduce) {
    const Cut from = Cut::evenly({Memory::kInput, 0, facts.count}, facts.world);
    const Cut to = Cut::evenly({Memory::kOutput, 0, facts.count}, facts.world);
    ring_reduce_scatter(builder, team, from, to.part(facts.rank), facts.chunks);
    ring_all_gather(builder, team, to, facts.chunks);
  } else if (facts.operation == Operation::kReduceScatter) {
    const Cut from = Cut::by(Memory::kInput, facts.parts);
    const Region own{Memory::kOutput, 0, from.part(facts.rank).count};
    ring_reduce_scatter(builder, team, from, own, facts.chunks);
  } else {
    COHORT_CHECK_EQ(facts.operation, Operation::kAllGather);
    const Cut to = Cut::by(Memory::kOutput, facts.parts);
    const Region own = to.part(facts.rank);
    builder.copy({Memory::kInput, 0, own.count}, own);
    ring_all_gather(builder, team, to, facts.chunks);
  }
  return std::move(builder).finish();
}

Effort ring_effort(const CallFacts& facts) {
  const int n = facts.world;
  if (n == 1) return {};
  const auto half_steps = static_cast<std::size_t>(n - 1) * static_cast<std::size_t>(facts.chunks);
  const auto memory = [&](std::size_t longest) {
    return num_places(n, facts.chunks) * divided_up(longest, static_cast<std::size_t>(facts.chunks));
  };
  if (facts.operation == Operation::kAllReduce) {
    // A rank never moves its own segment in one half, a neighbour's in the other: the two last are the
    // shortest.
    const std::size_t shortest = even_part(facts.count, n - 1, n).count;
    const std::size_t beside = even_part(facts.count, n - 2, n).count;
    return {.steps = 2 * half_steps,
            .moved = 2 * facts.count - shortest - beside,
            .combined = facts.count - shortest,
            .scratch = memory(even_part(facts.count, 0, n).count)};
  }
  const auto [shortest, longest] = std::minmax_element(facts.parts.begin(), facts.parts.end());
  const std::size_t moved = facts.count - *shortest;
  if (facts.operation == Operation::kAllGather) return {.steps = half_steps, .moved = moved};
  return {.steps = half_steps, .moved = moved, .combined = moved, .scratch = memory(*longest)};
}

}  // namespace cohort::comm
