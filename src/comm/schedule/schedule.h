#pragma once

#include "comm/call.h"

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
};

/// Which operand stands on the left of a combination: fixes the order of a sum.
enum class Order : std::uint8_t { kFromFirst, kToFirst };

/// One thing one rank does. It may begin when all of `after` (indices of earlier steps) are done. Messages
/// between two ranks meet in the order of their steps: the k-th send of a to b is the k-th receive of b from
/// a.
struct Step {
  Verb verb = Verb::kCopy;
  int peer = 0;
  Region from{};
  Region to{};
  Order order = Order::kToFirst;
  std::vector<int> after{};
};

/// What one rank does in one operation: pure data, made by a function of (rank, world, sizes), run by an
/// executor, checked symbolically by a test.
struct Schedule {
  std::size_t scratch_count = 0;  ///< elements of scratch memory it needs
  std::vector<Step> steps{};
};

/// The part of `total` elements that belongs to `part` of `num_parts`: as even as possible, longer ones
/// first.
struct Part {
  std::size_t first = 0;
  std::size_t count = 0;
};
Part even_part(std::size_t total, int part, int num_parts);

}  // namespace cohort::comm
