#pragma once

#include "comm/group/call.h"
#include "comm/schedule/wire_dtype.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cohort::comm {

/// The buffer that a region lies in.
enum class Memory : std::uint8_t { kInput, kOutput, kScratch };

/// A run of elements in one of the buffers.
struct Region {
  Memory memory = Memory::kOutput;
  std::size_t first = 0;
  std::size_t count = 0;
};

/// The action of a step.
enum class StepKind : std::uint8_t {
  kSend,     ///< `from` to the peer
  kReceive,  ///< from the peer into `to`
  kCombine,  ///< `to` = `from` ∘ `to` or `to` ∘ `from`, by `order`: local
  kCopy,     ///< `to` = `from`: local
  kRound,    ///< rounds `to` to the wire type, as if it had been sent: local
};

/// Whether a message carries elements in full width, or rounded to the schedule's wire type.
enum class Width : std::uint8_t { kFull, kNarrow };

/// The operand on the left of a combination; fixes the order of a sum.
enum class Order : std::uint8_t { kFromFirst, kToFirst };

/// One step of one rank. It may begin when all steps in `after` (indices of earlier steps) are done. Messages
/// between two ranks match in the order of their steps: the k-th send of a to b is the k-th receive of b from
/// a. A send or receive of no elements is a message too, a signal: barriers are made of signals.
struct Step {
  StepKind kind = StepKind::kCopy;
  int peer = 0;
  Region from{};
  Region to{};
  Order order = Order::kToFirst;
  Width width = Width::kFull;
  std::vector<int> after{};
};

/// The steps of one rank in a collective call, as data: made by a pure function of (rank, world, sizes), run
/// by the executor, checked symbolically by a test. A schedule is right whether input and output are separate
/// or overlap as the call allows; a copy of a region onto itself may be left out.
struct Schedule {
  std::size_t scratch_count = 0;  ///< elements of scratch memory
  std::vector<Step> steps{};
  WireDType wire = WireDType::kSame;  ///< the element type of narrow messages
};

}  // namespace cohort::comm
