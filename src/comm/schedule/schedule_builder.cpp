#include "comm/schedule/schedule_builder.h"

#include "base/check.h"

#include <algorithm>

namespace cohort::comm {
namespace {

// The first element of the output relative to the input, if they overlap: they are the same memory, or one is
// this rank's part of the other.
std::ptrdiff_t output_offset(const CallFacts& facts) {
  switch (facts.operation) {
    case Operation::kReduceScatter:
    case Operation::kScatter:
      return static_cast<std::ptrdiff_t>(first_of_part(facts.parts, facts.rank));
    case Operation::kAllGather:
    case Operation::kGather:
      return -static_cast<std::ptrdiff_t>(first_of_part(facts.parts, facts.rank));
    default:
      return 0;
  }
}

}  // namespace

ScheduleBuilder::ScheduleBuilder(const CallFacts& facts)
    : schedule_{.scratch_count = 0, .steps = {}, .wire = facts.wire},
      may_overlap_(facts.operation != Operation::kAllToAll),
      output_in_input_(output_offset(facts)) {
  for (int peer = 0; facts.wire != WireDType::kSame && peer < facts.world; ++peer) {
    widths_.push_back(is_rounded_between(facts, facts.rank, peer) ? Width::kNarrow : Width::kFull);
  }
}

Region ScheduleBuilder::scratch(std::size_t count) {
  const Region region{Memory::kScratch, schedule_.scratch_count, count};
  schedule_.scratch_count += count;
  return region;
}

std::optional<int> ScheduleBuilder::send(int peer, Region from, std::vector<int> after) {
  if (from.count == 0) return std::nullopt;
  Step step{.kind = StepKind::kSend, .peer = peer, .from = from, .width = width_to(peer)};
  step.after = std::move(after);
  add(std::move(step), {from}, {});
  return static_cast<int>(schedule_.steps.size()) - 1;
}

void ScheduleBuilder::recv(int peer, Region to) {
  if (to.count > 0) {
    add({.kind = StepKind::kReceive, .peer = peer, .to = to, .width = width_to(peer)}, {}, {to});
  }
}

void ScheduleBuilder::copy(Region from, Region to) {
  COHORT_CHECK_EQ(from.count, to.count);
  const bool same = from.memory == to.memory && from.first == to.first;
  if (from.count > 0 && !same) add({.kind = StepKind::kCopy, .from = from, .to = to}, {from}, {to});
}

void ScheduleBuilder::combine(Region from, Region to, Order order) {
  COHORT_CHECK_EQ(from.count, to.count);
  if (from.count > 0) add({.kind = StepKind::kCombine, .from = from, .to = to, .order = order}, {from}, {to});
}

void ScheduleBuilder::round(Region region) {
  const bool rounds = schedule_.wire != WireDType::kSame;
  if (rounds && region.count > 0) add({.kind = StepKind::kRound, .to = region}, {}, {region});
}

Width ScheduleBuilder::width_to(int peer) const {
  return widths_.empty() ? Width::kFull : widths_[static_cast<std::size_t>(peer)];
}

int ScheduleBuilder::send_signal(int peer, std::vector<int> after) {
  schedule_.steps.push_back({.kind = StepKind::kSend, .peer = peer, .after = std::move(after)});
  return static_cast<int>(schedule_.steps.size()) - 1;
}

int ScheduleBuilder::receive_signal(int peer, std::vector<int> after) {
  schedule_.steps.push_back({.kind = StepKind::kReceive, .peer = peer, .after = std::move(after)});
  return static_cast<int>(schedule_.steps.size()) - 1;
}

Schedule ScheduleBuilder::finish() && {
  return std::move(schedule_);
}

void ScheduleBuilder::add(Step step, std::initializer_list<Region> reads,
                          std::initializer_list<Region> writes) {
  const auto number = static_cast<int>(schedule_.steps.size());
  const auto end_of = [&](Region region) {
    return offset_of(region) + static_cast<std::ptrdiff_t>(region.count);
  };
  for (const Region region : reads) {
    log_of(region).read(offset_of(region), end_of(region), number, step.after);
  }
  for (const Region region : writes) {
    log_of(region).write(offset_of(region), end_of(region), number, step.after);
  }
  std::sort(step.after.begin(), step.after.end());
  step.after.erase(std::unique(step.after.begin(), step.after.end()), step.after.end());
  // A copy between overlapping input and output would wait for itself.
  if (!step.after.empty() && step.after.back() == number) step.after.pop_back();
  schedule_.steps.push_back(std::move(step));
}

AccessLog& ScheduleBuilder::log_of(Region region) {
  if (region.memory == Memory::kScratch) return scratch_log_;
  if (region.memory == Memory::kOutput && !may_overlap_) return output_log_;
  return call_log_;
}

std::ptrdiff_t ScheduleBuilder::offset_of(Region region) const {
  const auto first = static_cast<std::ptrdiff_t>(region.first);
  return region.memory == Memory::kOutput ? first + output_in_input_ : first;
}

void copy_in_chunks(ScheduleBuilder& builder, Region from, Region to, std::size_t chunk_length) {
  for (std::size_t chunk = 0; chunk < num_chunks(to.count, chunk_length); ++chunk) {
    builder.copy(chunk_of(from, chunk, chunk_length), chunk_of(to, chunk, chunk_length));
  }
}

void round_in_chunks(ScheduleBuilder& builder, Region region, std::size_t chunk_length) {
  for (const Region chunk : chunks_of(region, chunk_length)) builder.round(chunk);
}

Region slice(Region region, std::size_t first, std::size_t count) {
  COHORT_CHECK_LE(first + count, region.count);
  return {region.memory, region.first + first, count};
}

Schedule schedule_of(const Halves& halves, const CallFacts& facts) {
  ScheduleBuilder builder(facts);
  const Team team = whole_world(facts);
  if (facts.operation == Operation::kAllReduce) {
    const Cut from = Cut::evenly({Memory::kInput, 0, facts.count}, facts.world);
    const Cut to = Cut::evenly({Memory::kOutput, 0, facts.count}, facts.world);
    halves.reduce_scatter(builder, team, from, to.part(facts.rank), facts.chunk_length);
    round_in_chunks(builder, to.part(facts.rank), facts.chunk_length);
    halves.all_gather(builder, team, to, facts.chunk_length);
  } else if (facts.operation == Operation::kReduceScatter) {
    const Cut from = Cut::by(Memory::kInput, facts.parts);
    const Region own{Memory::kOutput, 0, from.part(facts.rank).count};
    halves.reduce_scatter(builder, team, from, own, facts.chunk_length);
  } else {
    COHORT_CHECK_EQ(facts.operation, Operation::kAllGather);
    const Cut to = Cut::by(Memory::kOutput, facts.parts);
    const Region own = to.part(facts.rank);
    builder.copy({Memory::kInput, 0, own.count}, own);
    halves.all_gather(builder, team, to, facts.chunk_length);
  }
  return std::move(builder).finish();
}

}  // namespace cohort::comm
