#include "comm/shared_memory/staged.h"

#include "comm/numbers/combine.h"
#include "comm/numbers/copy.h"

#include <algorithm>
#include <cstring>

namespace cohort::comm {
namespace {

bool is_combining_whole(Operation operation) {
  return operation == Operation::kAllReduce || operation == Operation::kReduce;
}

// Whether the input is cut into one part per rank; each part then has its own section of the stage.
bool is_cut(Operation operation) {
  return operation == Operation::kScatter || operation == Operation::kAllToAll ||
         operation == Operation::kReduceScatter;
}

std::size_t chunk_elements(const Call& call, int world) {
  const std::size_t element_bytes = size_bytes(call.dtype());
  if (!is_cut(call.operation)) return kStageBytes / element_bytes;
  const std::size_t section_bytes = kStageBytes / static_cast<std::size_t>(world) / kCacheLine * kCacheLine;
  return section_bytes / element_bytes;
}

std::size_t longest(std::size_t total, const std::vector<std::size_t>& counts, int world) {
  if (counts.empty()) return total / static_cast<std::size_t>(world);
  return *std::max_element(counts.begin(), counts.end());
}

/// The most elements that this rank knows must pass through one section of a stage.
std::size_t longest_run(const Call& call, int rank, int world) {
  switch (call.operation) {
    case Operation::kBarrier:
      return 0;
    case Operation::kBroadcast:
      return call.output.count;
    case Operation::kAllGather:
      return call.output_counts.empty() ? call.input.count : longest(0, call.output_counts, world);
    case Operation::kScatter:
      return rank == call.peer ? longest(call.input.count, call.input_counts, world) : call.output.count;
    case Operation::kReduceScatter:
    case Operation::kAllToAll:
      return longest(call.input.count, call.input_counts, world);
    default:
      return call.input.count;
  }
}

}  // namespace

std::uint32_t rounds_needed(const Call& call, int rank, int world) {
  const std::size_t run = longest_run(call, rank, world);
  if (run == 0) return 0;
  if (run * size_bytes(call.dtype()) <= kCacheLine) return 1;  // no section is smaller than a cache line
  const std::size_t chunk = chunk_elements(call, world);
  return static_cast<std::uint32_t>((run + chunk - 1) / chunk);
}

Staged::Staged(GroupView& view, const Call& call, std::uint32_t rounds)
    : view_(view),
      call_(call),
      rounds_(rounds),
      base_(view.chunks),
      element_bytes_(size_bytes(call.dtype())),
      chunk_(chunk_elements(call, view.size())),
      combining_(is_combining_whole(call.operation)) {}

bool Staged::advance() {
  while (true) {
    bool moved = try_stage();
    if (combining_) moved = try_combine() || moved;
    moved = try_take() || moved;
    if (taken_ == rounds_ && staged_ == rounds_) break;
    if (!moved) return false;
  }
  if (!all_reached(&Counters::consumed, base_ + rounds_)) return false;
  view_.chunks = base_ + rounds_;
  return true;
}

bool Staged::try_stage() {
  if (staged_ == rounds_) return false;
  // The stage was last used two rounds ago: every reader must be done with it.
  const Counter readers = combining_ ? &Counters::reduced : &Counters::consumed;
  if (staged_ >= 2 && !all_reached(readers, base_ + staged_ - 1)) return false;
  stage(staged_);
  ++staged_;
  publish(&Counters::staged, base_ + staged_);
  return true;
}

bool Staged::try_combine() {
  if (combined_ == staged_) return false;
  if (!all_reached(&Counters::staged, base_ + combined_ + 1)) return false;
  if (combined_ >= 2 && !all_reached(&Counters::consumed, base_ + combined_ - 1)) return false;
  combine_slice(combined_);
  ++combined_;
  publish(&Counters::reduced, base_ + combined_);
  return true;
}

bool Staged::try_take() {
  if (taken_ == (combining_ ? combined_ : staged_)) return false;
  const Counter made = combining_ ? &Counters::reduced : &Counters::staged;
  if (!producers_reached(made, base_ + taken_ + 1)) return false;
  take(taken_);
  ++taken_;
  publish(&Counters::consumed, base_ + taken_);
  return true;
}

bool Staged::takes() const {
  switch (call_.operation) {
    case Operation::kReduce:
    case Operation::kGather:
      return view_.rank() == call_.peer;
    case Operation::kBroadcast:
      return view_.rank() != call_.peer;
    default:
      return true;
  }
}

bool Staged::all_reached(Counter counter, std::uint64_t value) const {
  for (int rank = 0; rank < view_.size(); ++rank) {
    if (!reached(rank, counter, value)) return false;
  }
  return true;
}

bool Staged::producers_reached(Counter counter, std::uint64_t value) const {
  if (!takes()) return true;
  const bool one = call_.operation == Operation::kBroadcast || call_.operation == Operation::kScatter;
  return one ? reached(call_.peer, counter, value) : all_reached(counter, value);
}

std::vector<int> Staged::waited_for() const {
  std::vector<int> ranks;
  const std::uint64_t value = base_ + std::min(taken_ + 1, rounds_);
  for (int rank = 0; rank < view_.size(); ++rank) {
    if (rank != view_.rank() &&
        !(reached(rank, &Counters::staged, value) && reached(rank, &Counters::consumed, value))) {
      ranks.push_back(rank);
    }
  }
  return ranks;
}

PartEntry Staged::input_part(int rank) const {
  if (!is_cut(call_.operation)) return {0, call_.input.count};
  return part_of(call_.input.count, call_.input_counts, rank, view_.size());
}

PartEntry Staged::output_part(int rank) const {
  switch (call_.operation) {
    case Operation::kAllGather:
    case Operation::kGather:
    case Operation::kAllToAll:
      return part_of(call_.output.count, call_.output_counts, rank, view_.size());
    default:
      return {0, call_.output.count};
  }
}

PartEntry Staged::chunk_of(PartEntry part, std::uint32_t round) const {
  const std::size_t first = std::min<std::size_t>(part.count, std::size_t{round} * chunk_);
  return {part.first + first, std::min<std::size_t>(chunk_, part.count - first)};
}

void Staged::stage(std::uint32_t round) {
  std::byte* stage = view_.mine().stage[round % 2];
  switch (call_.operation) {
    case Operation::kBarrier:
    case Operation::kSend:
    case Operation::kReceive:
      return;
    case Operation::kBroadcast:
    case Operation::kAllGather:
    case Operation::kGather: {
      const bool root = view_.rank() == call_.peer;
      if (call_.operation == Operation::kBroadcast && !root) return;
      if (call_.operation == Operation::kGather && root) return;
      const PartEntry chunk = chunk_of({0, call_.input.count}, round);
      copy_bytes(stage, call_.input.data + chunk.first * element_bytes_, chunk.count * element_bytes_);
      return;
    }
    case Operation::kScatter:
      if (view_.rank() == call_.peer) stage_parts(round);
      return;
    case Operation::kAllToAll:
    case Operation::kReduceScatter:
      stage_parts(round);
      return;
    case Operation::kAllReduce:
    case Operation::kReduce: {
      // The own slice is left out: no other rank reads it.
      const PartEntry chunk = chunk_of({0, call_.input.count}, round);
      const PartEntry mine = slice_of(chunk.count, element_bytes_, view_.rank(), view_.size());
      const std::byte* from = call_.input.data + chunk.first * element_bytes_;
      const std::size_t behind = (mine.first + mine.count) * element_bytes_;
      copy_bytes(stage, from, mine.first * element_bytes_);
      copy_bytes(stage + behind, from + behind, chunk.count * element_bytes_ - behind);
      return;
    }
  }
}

void Staged::stage_parts(std::uint32_t round) {
  std::byte* stage = view_.mine().stage[round % 2];
  for (int rank = 0; rank < view_.size(); ++rank) {
    if (rank == view_.rank()) continue;
    const PartEntry chunk = chunk_of(input_part(rank), round);
    copy_bytes(stage + static_cast<std::size_t>(rank) * chunk_ * element_bytes_,
               call_.input.data + chunk.first * element_bytes_, chunk.count * element_bytes_);
  }
}

void Staged::combine_slice(std::uint32_t round) {
  const PartEntry chunk = chunk_of({0, call_.input.count}, round);
  const PartEntry mine = slice_of(chunk.count, element_bytes_, view_.rank(), view_.size());
  for (int rank = 0; rank < view_.size(); ++rank) {
    const std::byte* from = rank == view_.rank() ? call_.input.data + chunk.first * element_bytes_
                                                 : view_.member(rank).stage[round % 2];
    view_.sources[static_cast<std::size_t>(rank)] = from + mine.first * element_bytes_;
  }
  const bool root = call_.operation == Operation::kReduce && view_.rank() == call_.peer;
  const bool into_output = call_.operation == Operation::kAllReduce || root;
  const bool for_others = view_.size() > 1 && !root;
  std::size_t num_targets = 0;
  if (into_output) {
    view_.targets[num_targets++] = call_.output.data + (chunk.first + mine.first) * element_bytes_;
  }
  if (for_others) view_.targets[num_targets++] = view_.mine().result[round % 2];
  combine(call_.reduce_op, call_.input.dtype, view_.sources, std::span(view_.targets).first(num_targets),
          mine.count);
}

void Staged::take(std::uint32_t round) {
  if (!takes()) return;
  switch (call_.operation) {
    case Operation::kBarrier:
    case Operation::kSend:
    case Operation::kReceive:
      return;
    case Operation::kAllReduce:
    case Operation::kReduce:
      return take_slices(round);
    case Operation::kReduceScatter:
      return take_combined_part(round);
    case Operation::kBroadcast:
    case Operation::kScatter:
      return take_part(call_.peer, round);
    case Operation::kAllGather:
    case Operation::kGather:
    case Operation::kAllToAll:
      // Each rank begins with another peer, so that they do not all read the same stage at once.
      for (int i = 0; i < view_.size(); ++i) take_part((view_.rank() + 1 + i) % view_.size(), round);
      return;
  }
}

PartEntry Staged::part_for_me(int from) const {
  if (from == view_.rank()) return input_part(view_.rank());
  return {0, output_part(from).count};
}

void Staged::take_part(int from, std::uint32_t round) {
  const PartEntry part = chunk_of(output_part(from), round);
  std::byte* to = call_.output.data + part.first * element_bytes_;
  if (from == view_.rank()) {
    const PartEntry own = chunk_of(part_for_me(from), round);
    copy_bytes(to, call_.input.data + own.first * element_bytes_, part.count * element_bytes_);
    return;
  }
  const std::size_t first = is_cut(call_.operation) ? static_cast<std::size_t>(view_.rank()) * chunk_ : 0;
  copy_bytes(to, view_.member(from).stage[round % 2] + first * element_bytes_, part.count * element_bytes_);
}

void Staged::take_combined_part(std::uint32_t round) {
  const PartEntry own = chunk_of(input_part(view_.rank()), round);
  const std::size_t offset_bytes = static_cast<std::size_t>(view_.rank()) * chunk_ * element_bytes_;
  for (int rank = 0; rank < view_.size(); ++rank) {
    view_.sources[static_cast<std::size_t>(rank)] = rank == view_.rank()
                                                        ? call_.input.data + own.first * element_bytes_
                                                        : view_.member(rank).stage[round % 2] + offset_bytes;
  }
  const PartEntry to = chunk_of({0, call_.output.count}, round);
  view_.targets[0] = call_.output.data + to.first * element_bytes_;
  combine(call_.reduce_op, call_.input.dtype, view_.sources, std::span(view_.targets).first(1), to.count);
}

void Staged::take_slices(std::uint32_t round) {
  const PartEntry chunk = chunk_of({0, call_.input.count}, round);
  for (int i = 1; i < view_.size(); ++i) {
    const int rank = (view_.rank() + i) % view_.size();
    const PartEntry slice = slice_of(chunk.count, element_bytes_, rank, view_.size());
    copy_bytes(call_.output.data + (chunk.first + slice.first) * element_bytes_,
               view_.member(rank).result[round % 2], slice.count * element_bytes_);
  }
}

}  // namespace cohort::comm
