#pragma once

#include "comm/group/communicator.h"
#include "comm/shared_memory/layout.h"

#include <cstdint>
#include <optional>
#include <string>

namespace cohort::comm {

/// The buffers of a member that the other members can read or write in a call.
struct Offer {
  bool is_inline = false;  ///< the input was copied into the posting
  bool input_in_arena = false;
  bool output_in_arena = false;
};

/// Posting::call: operation, dtype, reduce op, root and offer of a call in one word, and the offer in it
/// again.
std::uint64_t pack(const Call& call, Offer offer);
Offer offer_in(std::uint64_t word);
/// The operation, dtype, reduce op and root of a posting, for error messages.
Call call_in(const Posting& posting);

/// Posting::count: the number of elements that other ranks compare with their own call.
std::size_t posted_count(const Call& call);
/// Posting::detail: a checksum of the counts of all parts, where they must be equal on all ranks; otherwise
/// 0.
std::uint32_t posted_detail(const Call& call);

/// Compares the posting of `peer` with our call. Returns nullopt if they match, else both calls in words and
/// the field that differs.
std::optional<std::string> disagreement(const GroupFacts& facts, const Call& ours, const Posting& theirs,
                                        int peer);

}  // namespace cohort::comm
