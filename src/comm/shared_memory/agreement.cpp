#include "comm/shared_memory/agreement.h"

#include "base/checksum.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>

namespace cohort::comm {
namespace {

// Layout of Posting::call, from the lowest bit: operation 8 | dtype 8 | reduce op 8 | flags 8 | root 32.
enum Flag : std::uint64_t { kInline = 1, kInputInArena = 2, kOutputInArena = 4, kRagged = 8 };
constexpr int kFlagShift = 24;
constexpr std::uint64_t kOfferMask = std::uint64_t{kInline | kInputInArena | kOutputInArena} << kFlagShift;

bool is_rooted(Operation operation) {
  return operation == Operation::kReduce || operation == Operation::kBroadcast ||
         operation == Operation::kGather || operation == Operation::kScatter;
}

bool is_combining(Operation operation) {
  return operation == Operation::kAllReduce || operation == Operation::kReduce ||
         operation == Operation::kReduceScatter;
}

// A call is ragged here only if every rank has to give counts.
bool is_ragged(const Call& call) {
  switch (call.operation) {
    case Operation::kReduceScatter:
    case Operation::kAllToAll:
      return !call.input_counts.empty();
    case Operation::kAllGather:
      return !call.output_counts.empty();
    default:
      return false;
  }
}

/// The count that `peer` must post for its call to match ours; nullopt if `rank` cannot know.
std::optional<std::size_t> expected_count(const Call& call, int rank, int peer) {
  const auto index = static_cast<std::size_t>(peer);
  switch (call.operation) {
    case Operation::kAllGather:
      return call.output_counts.empty() ? call.input.count : call.output_counts[index];
    case Operation::kGather:
      if (rank != call.peer) return std::nullopt;
      return call.output_counts.empty() ? call.input.count : call.output_counts[index];
    case Operation::kScatter:
      if (rank != call.peer) return std::nullopt;
      return call.input_counts.empty() ? call.output.count : call.input_counts[index];
    case Operation::kAllToAll:
      if (!call.input_counts.empty()) return std::nullopt;
      return call.input.count;
    default:
      return posted_count(call);
  }
}

std::string shown(const GroupFacts& facts, Call call, int rank, std::size_t count) {
  call.input.count = count;
  call.output.count = count;
  call.input.dtype = call.output.dtype = call.dtype();
  return fmt::format("rank {} called {}", facts.global_rank(rank), facts.text_of(call));
}

}  // namespace

std::uint64_t pack(const Call& call, Offer offer) {
  std::uint64_t flags = 0;
  if (offer.is_inline) flags |= kInline;
  if (offer.input_in_arena) flags |= kInputInArena;
  if (offer.output_in_arena) flags |= kOutputInArena;
  if (is_ragged(call)) flags |= kRagged;
  const auto root = is_rooted(call.operation) ? static_cast<std::uint64_t>(call.peer) : 0;
  const auto reduce = is_combining(call.operation) ? static_cast<std::uint64_t>(call.reduce_op) : 0;
  const auto dtype = call.operation == Operation::kBarrier ? 0 : static_cast<std::uint64_t>(call.dtype());
  return static_cast<std::uint64_t>(call.operation) | dtype << 8 | reduce << 16 | flags << kFlagShift |
         root << 32;
}

Offer offer_in(std::uint64_t word) {
  const std::uint64_t flags = word >> kFlagShift;
  return {.is_inline = (flags & kInline) != 0,
          .input_in_arena = (flags & kInputInArena) != 0,
          .output_in_arena = (flags & kOutputInArena) != 0};
}

Call call_in(const Posting& posting) {
  Call call;
  const std::uint64_t word = posting.call;
  call.operation =
      static_cast<Operation>(std::min<std::uint64_t>(word & 0xff, std::size(kAllOperations) - 1));
  const auto dtype =
      static_cast<DType>(std::min<std::uint64_t>((word >> 8) & 0xff, std::size(kAllDTypes) - 1));
  call.input.dtype = call.output.dtype = dtype;
  call.reduce_op =
      static_cast<ReduceOp>(std::min<std::uint64_t>((word >> 16) & 7, std::size(kAllReduceOps) - 1));
  call.peer = static_cast<int>(word >> 32);
  return call;
}

std::size_t posted_count(const Call& call) {
  switch (call.operation) {
    case Operation::kBarrier:
      return 0;
    case Operation::kBroadcast:
    case Operation::kScatter:
      return call.output.count;
    default:
      return call.input.count;
  }
}

std::uint32_t posted_detail(const Call& call) {
  const std::vector<std::size_t>* counts = nullptr;
  if (call.operation == Operation::kReduceScatter) counts = &call.input_counts;
  if (call.operation == Operation::kAllGather) counts = &call.output_counts;
  if (counts == nullptr || counts->empty()) return 0;
  return crc32c(std::as_bytes(std::span(*counts)));
}

std::optional<std::string> disagreement(const GroupFacts& facts, const Call& ours, const Posting& theirs,
                                        int peer) {
  const std::uint64_t mine = pack(ours, {});
  const std::optional<std::size_t> expected = expected_count(ours, facts.rank, peer);
  const bool same_call = (theirs.call & ~kOfferMask) == mine;
  const bool same_count = !expected || *expected == theirs.count;
  if (same_call && same_count && theirs.detail == posted_detail(ours)) return std::nullopt;
  const std::string both = shown(facts, call_in(theirs), peer, theirs.count) + ", " +
                           shown(facts, ours, facts.rank, posted_count(ours));
  if (!same_call) return both;
  if (!same_count) {
    return both + fmt::format("; expected {} elements of rank {}, found {}", *expected,
                              facts.global_rank(peer), theirs.count);
  }
  return both + fmt::format("; counts of parts: checksum {:#010x} on rank {}, {:#010x} on rank {}",
                            theirs.detail, facts.global_rank(peer), posted_detail(ours),
                            facts.own_global_rank());
}

}  // namespace cohort::comm
