#pragma once

#include "comm/call.h"
#include "comm/shared_memory/layout.h"

#include <cstdint>
#include <optional>
#include <string>

namespace cohort::comm {

/// What a member can offer the others of a call.
struct Offer {
  bool is_inline = false;  ///< its input is in the announcement
  bool input_in_arena = false;
  bool output_in_arena = false;
};

/// The word of an announcement that says what is called, and back.
std::uint64_t pack(const Call& call, Offer offer);
Offer offer_in(std::uint64_t what);
/// The operation, type, reduce op and root again, for messages.
Call call_in(const Announcement& announcement);

/// What of `call` is announced as its count: what others can compare with theirs.
std::size_t announced_count(const Call& call);
/// A hash of counts that must be the same on all ranks; 0 without.
std::uint32_t announced_detail(const Call& call);

/// Whether `theirs`, announced by `peer`, fits our call; nothing if it does, else what does not.
std::optional<std::string> disagreement(const Call& ours, int rank, const Announcement& theirs, int peer);

}  // namespace cohort::comm
