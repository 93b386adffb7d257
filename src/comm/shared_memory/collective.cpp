#include "comm/shared_memory/collective.h"

#include "comm/numbers/combine.h"
#include "comm/numbers/copy.h"
#include "comm/shared_memory/agreement.h"
#include "comm/shared_memory/parts.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>

namespace cohort::comm {
namespace {

// A larger input that lies in the arena is read in place instead of being copied into the posting.
constexpr std::size_t kAlwaysInline = 1024;

// A reduction is handed to its consumer in pieces of half the first-level cache of most cores.
constexpr std::size_t kPieceBytes = std::size_t{16} << 10;

bool gives_root_only(Operation operation) {
  return operation == Operation::kBroadcast || operation == Operation::kScatter;
}

bool is_whole_reduction(Operation operation) {
  return operation == Operation::kAllReduce || operation == Operation::kReduce;
}

}  // namespace

Collective::Collective(GroupView& view, const Call& call, std::uint64_t sequence)
    : view_(view), call_(call), sequence_(sequence), parity_(sequence % 2) {}

bool Collective::advance() {
  switch (phase_) {
    case Phase::kPost:
      post();
      phase_ = Phase::kMeet;
      [[fallthrough]];
    case Phase::kMeet:
      if (!all_posted()) return false;
      if (!agree()) {
        phase_ = Phase::kOver;
        return true;
      }
      choose_way();
      if (consumer_error_) phase_ = Phase::kOver;
      return phase_ == Phase::kOver || advance();
    case Phase::kFinish:
      for (; next_ < view_.size(); ++next_) {
        if (view_.member(next_).block->counters.finished.load(std::memory_order_acquire) < sequence_) {
          return false;
        }
      }
      phase_ = Phase::kOver;
      return true;
    case Phase::kStaged:
      if (!staged_->advance()) return false;
      if (call_.consumer != nullptr) hand_over(0, call_.output);
      phase_ = Phase::kOver;
      return true;
    case Phase::kOver:
      return true;
  }
  return true;
}

bool Collective::contributes(int rank) const {
  return call_.operation != Operation::kBarrier && (!gives_root_only(call_.operation) || rank == call_.peer);
}

/// Whether this rank alone knows how its input is cut into parts, so that it has to publish their positions.
bool Collective::lays_out_parts() const {
  if (call_.operation == Operation::kScatter) return view_.rank() == call_.peer;
  return call_.operation == Operation::kAllToAll && !call_.input_counts.empty();
}

void Collective::post() {
  MemberBlock& block = *view_.mine().block;
  Posting& mine = block.postings[parity_];
  const std::size_t input_bytes = contributes(view_.rank()) ? call_.input.size_bytes() : 0;
  Offer offer;
  offer.is_inline = input_bytes <= kAlwaysInline;
  if (!offer.is_inline) {
    const auto input = view_.arena().offset_of(call_.input.data, input_bytes);
    offer.input_in_arena = input.has_value();
    offer.is_inline = !input && input_bytes <= Posting::kInlineBytes;
    mine.input = input.value_or(0);
  }
  if (offer.is_inline && input_bytes > 0) std::memcpy(mine.payload.data(), call_.input.data, input_bytes);
  if (is_whole_reduction(call_.operation) && !(offer.is_inline)) {
    const auto output = view_.arena().offset_of(call_.output.data, call_.output.size_bytes());
    const bool needed = call_.operation == Operation::kAllReduce || view_.rank() == call_.peer;
    offer.output_in_arena = output.has_value() || !needed;
    mine.output = output.value_or(0);
  }
  mine.rounds = rounds_needed(call_, view_.rank(), view_.size());
  if (lays_out_parts()) {
    for (int rank = 0; rank < view_.size(); ++rank) {
      view_.mine().parts[parity_][rank] = part_of(call_.input.count, call_.input_counts, rank, view_.size());
    }
  }
  mine.count = posted_count(call_);
  mine.detail = posted_detail(call_);
  mine.call = pack(call_, offer);
  view_.publish(mine.sequence, sequence_);
}

bool Collective::all_posted() {
  for (; next_ < view_.size(); ++next_) {
    if (posted_by(next_).sequence.load(std::memory_order_acquire) < sequence_) return false;
  }
  return true;
}

bool Collective::agree() {
  for (int rank = 0; rank < view_.size(); ++rank) {
    if (rank == view_.rank()) continue;
    fault_ = disagreement(view_.facts(), call_, posted_by(rank), rank);
    if (fault_) return false;
  }
  if (call_.operation == Operation::kScatter) return agree_on_part(call_.peer, call_.output.count);
  if (call_.operation != Operation::kAllToAll || call_.input_counts.empty()) return true;
  for (int rank = 0; rank < view_.size(); ++rank) {
    if (!agree_on_part(rank, call_.output_counts[static_cast<std::size_t>(rank)])) return false;
  }
  return true;
}

bool Collective::agree_on_part(int from, std::size_t expected) {
  const std::uint64_t theirs = view_.member(from).parts[parity_][view_.rank()].count;
  if (theirs == expected) return true;
  fault_ = fmt::format("{}: rank {} gives {} elements to rank {}, which expected {}", name(call_.operation),
                       view_.facts().global_rank(from), theirs, view_.facts().own_global_rank(), expected);
  return false;
}

bool Collective::everywhere(bool (*holds)(const Offer&)) const {
  for (int rank = 0; rank < view_.size(); ++rank) {
    if (contributes(rank) && !holds(offer_in(posted_by(rank).call))) return false;
  }
  return true;
}

void Collective::choose_way() {
  if (everywhere([](const Offer& offer) { return offer.is_inline; })) {
    for (int rank = 0; rank < view_.size(); ++rank) {
      view_.sources[static_cast<std::size_t>(rank)] = posted_by(rank).payload.data();
    }
    take();
    phase_ = Phase::kOver;
    return;
  }
  const bool inputs = everywhere([](const Offer& offer) { return offer.is_inline || offer.input_in_arena; });
  const bool outputs = !is_whole_reduction(call_.operation) ||
                       everywhere([](const Offer& offer) { return offer.output_in_arena; });
  next_ = 0;
  if (inputs && outputs) {
    move_direct();
    phase_ = Phase::kFinish;
    // A member that gave up may have changed its buffers while they were read here. Such a call must never
    // succeed: the counter is not published, and the failure that the member announced ends the call.
    if (!any_rank_gave_up()) view_.publish(view_.mine().block->counters.finished, sequence_);
    return;
  }
  std::uint32_t rounds = 0;
  for (int rank = 0; rank < view_.size(); ++rank) {
    rounds = std::max(rounds, posted_by(rank).rounds);
  }
  staged_.emplace(view_, call_, rounds);
  phase_ = Phase::kStaged;
}

bool Collective::any_rank_gave_up() const {
  std::atomic_thread_fence(std::memory_order_acquire);
  for (int rank = 0; rank < view_.size(); ++rank) {
    if (view_.member(rank).block->counters.given_up.load(std::memory_order_acquire) != 0) return true;
  }
  return false;
}

void Collective::give_up() {
  view_.mine().block->counters.given_up.store(1, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void Collective::move_direct() {
  for (int rank = 0; rank < view_.size(); ++rank) {
    const Posting& theirs = posted_by(rank);
    view_.sources[static_cast<std::size_t>(rank)] =
        offer_in(theirs.call).is_inline ? theirs.payload.data() : view_.member(rank).memory + theirs.input;
  }
  if (is_whole_reduction(call_.operation)) {
    combine_slices();
  } else {
    take();
  }
}

void Collective::combine_slices() {
  const std::size_t element_bytes = size_bytes(call_.input.dtype);
  const PartEntry mine = slice_of(call_.input.count, element_bytes, view_.rank(), view_.size());
  const std::size_t first_byte = mine.first * element_bytes;
  for (const std::byte*& source : view_.sources) source += first_byte;
  std::size_t num_targets = 0;
  for (int rank = 0; rank < view_.size(); ++rank) {
    if (call_.operation == Operation::kReduce && rank != call_.peer) continue;
    view_.targets[num_targets++] = view_.member(rank).memory + posted_by(rank).output + first_byte;
  }
  combine(call_.reduce_op, call_.input.dtype, view_.sources, std::span(view_.targets).first(num_targets),
          mine.count);
}

// The other members may still read the buffers of this rank, whose caller frees them once it has the error.
void Collective::hand_over(std::size_t first, ConstNumbers piece) {
  try {
    (*call_.consumer)(first, piece);
  } catch (const std::exception& thrown) {
    consumer_error_ = consumer_failure(thrown, view_.facts().own_global_rank());
    give_up();
  }
}

// The combined elements are handed to the consumer piece by piece, without passing through memory.
void Collective::combine_for_consumer(std::size_t count) {
  alignas(64) std::array<std::byte, kPieceBytes> piece;
  const std::size_t element_bytes = size_bytes(call_.input.dtype);
  view_.targets[0] = piece.data();
  for (std::size_t first = 0; first < count;) {
    const std::size_t some = std::min(count - first, kPieceBytes / element_bytes);
    combine(call_.reduce_op, call_.input.dtype, view_.sources, std::span(view_.targets).first(1), some);
    hand_over(first, {piece.data(), some, call_.input.dtype});
    if (consumer_error_) return;
    for (const std::byte*& from : view_.sources) from += some * element_bytes;
    first += some;
  }
}

void Collective::take() {
  const int rank = view_.rank();
  const int world = view_.size();
  const std::size_t element_bytes = size_bytes(call_.dtype());
  const auto source = [&](int from) { return view_.sources[static_cast<std::size_t>(from)]; };
  switch (call_.operation) {
    case Operation::kBarrier:
    case Operation::kSend:
    case Operation::kReceive:
      return;
    case Operation::kReduce:
      if (rank != call_.peer) return;
      [[fallthrough]];
    case Operation::kAllReduce:
      view_.targets[0] = call_.output.data;
      combine(call_.reduce_op, call_.input.dtype, view_.sources, std::span(view_.targets).first(1),
              call_.input.count);
      return;
    case Operation::kReduceScatter: {
      const PartEntry part = part_of(call_.input.count, call_.input_counts, rank, world);
      for (const std::byte*& from : view_.sources) from += part.first * element_bytes;
      if (call_.consumer != nullptr) return combine_for_consumer(part.count);
      view_.targets[0] = call_.output.data;
      combine(call_.reduce_op, call_.input.dtype, view_.sources, std::span(view_.targets).first(1),
              part.count);
      return;
    }
    case Operation::kBroadcast:
      if (rank != call_.peer) copy_bytes(call_.output.data, source(call_.peer), call_.output.size_bytes());
      return;
    case Operation::kGather:
      if (rank != call_.peer) return;
      [[fallthrough]];
    case Operation::kAllGather:
      for (int i = 1; i <= world; ++i) {
        const int from = (rank + i) % world;
        const PartEntry part = part_of(call_.output.count, call_.output_counts, from, world);
        copy_bytes(call_.output.data + part.first * element_bytes, source(from), part.count * element_bytes);
      }
      return;
    case Operation::kScatter: {
      const std::uint64_t first = view_.member(call_.peer).parts[parity_][rank].first;
      copy_bytes(call_.output.data, source(call_.peer) + first * element_bytes, call_.output.size_bytes());
      return;
    }
    case Operation::kAllToAll:
      for (int i = 1; i <= world; ++i) {
        const int from = (rank + i) % world;
        const PartEntry to = part_of(call_.output.count, call_.output_counts, from, world);
        const std::uint64_t first = call_.input_counts.empty()
                                        ? static_cast<std::uint64_t>(rank) * to.count
                                        : view_.member(from).parts[parity_][rank].first;
        copy_bytes(call_.output.data + to.first * element_bytes, source(from) + first * element_bytes,
                   to.count * element_bytes);
      }
      return;
  }
}

std::vector<int> Collective::not_arrived() const {
  std::vector<int> ranks;
  for (int rank = 0; rank < view_.size(); ++rank) {
    if (posted_by(rank).sequence.load(std::memory_order_acquire) < sequence_) ranks.push_back(rank);
  }
  return ranks;
}

std::vector<int> Collective::waited_for() const {
  if (phase_ == Phase::kMeet || phase_ == Phase::kPost) return not_arrived();
  if (phase_ == Phase::kStaged) return staged_->waited_for();
  std::vector<int> ranks;
  for (int rank = 0; rank < view_.size(); ++rank) {
    if (view_.member(rank).block->counters.finished.load(std::memory_order_acquire) < sequence_) {
      ranks.push_back(rank);
    }
  }
  return ranks;
}

}  // namespace cohort::comm
