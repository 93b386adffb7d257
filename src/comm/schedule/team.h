#pragma once

#include "comm/schedule/call_facts.h"
#include "comm/schedule/schedule.h"

#include <vector>

namespace cohort::comm {

/// Ranks that run an algorithm together, by position: all ranks, the ranks of one host, or one rank of every
/// host.
struct Team {
  std::vector<int> ranks{};
  int me = 0;  ///< the position of this rank

  int size() const { return static_cast<int>(ranks.size()); }
  /// The rank at a position, modulo size().
  int at(int position) const;
};

/// All ranks of the call.
Team whole_world(const CallFacts& facts);

/// Adjacent parts of one buffer, one for each position of a team.
///
/// Threads: immutable.
class Cut {
 public:
  /// Parts as even as possible, longer ones first.
  static Cut evenly(Region whole, int num_parts);
  /// Parts of these lengths from the beginning of a memory on.
  static Cut by(Memory memory, const std::vector<std::size_t>& counts);

  /// The part at `position`, modulo num_parts().
  Region part(int position) const;
  /// `num_parts` adjacent parts, which must not wrap around the end.
  Region parts(int position, int num_parts) const;
  /// `num_parts` parts from `position` on, modulo num_parts(): one region, or two if they wrap around the
  /// end.
  std::vector<Region> around(int position, int num_parts) const;
  /// Elements of the longest part.
  std::size_t longest() const;
  int num_parts() const { return static_cast<int>(firsts_.size()) - 1; }

 private:
  Memory memory_ = Memory::kOutput;
  std::vector<std::size_t> firsts_;  // first element of each part, then the end
};

/// position + offset modulo `size`; `offset` may be negative.
int around(int position, int offset, int size);

/// Rounds of doubling from 1 until `size` is reached: ⌈log₂ size⌉.
int num_doublings(int size);

}  // namespace cohort::comm
