#pragma once

#include "comm/call.h"
#include "comm/schedule/wire_dtype.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cohort::comm {

/// Which of a call's memories a region lies in.
enum class Memory : std::uint8_t { kInput, kOutput, kScratch };

/// A run of elements in one of the memories.
struct Region {
  Memory memory = Memory::kOutput;
  std::size_t first = 0;
  std::size_t count = 0;
};

enum class Verb : std::uint8_t {
  kSend,     ///< `from` to the peer
  kReceive,  ///< from the peer into `to`
  kCombine,  ///< `to` = `from` ∘ `to` or `to` ∘ `from`, by `order`: local
  kCopy,     ///< `to` = `from`: local
  kRound,    ///< `to` becomes what it were if it had travelled narrow: local
};

/// How the elements of a message travel: as they are kept, or rounded to the schedule's wire type.
enum class Width : std::uint8_t { kFull, kNarrow };

/// Which operand stands on the left of a combination: fixes the order of a sum.
enum class Order : std::uint8_t { kFromFirst, kToFirst };

/// One thing one rank does. It may begin when all of `after` (indices of earlier steps) are done. Messages
/// between two ranks meet in the order of their steps: the k-th send of a to b is the k-th receive of b from
/// a. A send or receive of no elements is a message too, a signal: barriers are made of them.
struct Step {
  Verb verb = Verb::kCopy;
  int peer = 0;
  Region from{};
  Region to{};
  Order order = Order::kToFirst;
  Width width = Width::kFull;
  std::vector<int> after{};
};

/// What one rank does in one operation: pure data, made by a function of (rank, world, sizes), run by an
/// executor, checked symbolically by a test. It is right whether input and output are apart or overlap as the
/// call allows; a copy of a region onto itself may be left out.
struct Schedule {
  std::size_t scratch_count = 0;  ///< elements of scratch memory it needs
  std::vector<Step> steps{};
  WireDType wire = WireDType::kSame;  ///< what narrow messages travel as
};

/// A run of elements of something that was cut.
struct Part {
  std::size_t first = 0;
  std::size_t count = 0;
};
/// The part of `total` elements that belongs to `part` of `num_parts`: as even as possible, longer ones
/// first.
Part even_part(std::size_t total, int part, int num_parts);

}  // namespace cohort::comm
