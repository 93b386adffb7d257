#pragma once

#include "comm/schedule/call_facts.h"
#include "comm/schedule/schedule.h"

#include <vector>

namespace cohort::comm {

/// Ranks that run an algorithm together, by their position: all of them, or those of a host, or one of every
/// host.
struct Team {
  std::vector<int> ranks{};
  int me = 0;  ///< my position

  int size() const { return static_cast<int>(ranks.size()); }
  /// The rank at a position, counted round in circles.
  int at(int position) const;
};

Team whole_world(const CallFacts& facts);

/// Elements in a row, cut into one part for each position of a team.
class Cut {
 public:
  /// As even as possible, longer ones first.
  static Cut evenly(Region whole, int num_parts);
  /// Parts of these lengths from the beginning of a memory.
  static Cut by(Memory memory, const std::vector<std::size_t>& counts);

  /// By position, counted round in circles.
  Region part(int position) const;
  /// `num_parts` parts in a row, which must not pass the end.
  Region parts(int position, int num_parts) const;
  /// `num_parts` parts from a position on, round in circles: one region, or two where they pass the end.
  std::vector<Region> around(int position, int num_parts) const;
  /// Elements of the longest part.
  std::size_t longest() const;
  int num_parts() const { return static_cast<int>(firsts_.size()) - 1; }

 private:
  Memory memory_ = Memory::kOutput;
  std::vector<std::size_t> firsts_;  // of each part, and the end
};

/// The position `offset` further in a circle of `size`; offset may be negative.
int around(int position, int offset, int size);

/// Rounds of doubling until `size` is reached: the logarithm to base 2, rounded up.
int num_doublings(int size);

}  // namespace cohort::comm
