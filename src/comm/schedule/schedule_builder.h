#pragma once

#include "comm/schedule/access_log.h"
#include "comm/schedule/call_facts.h"
#include "comm/schedule/schedule.h"
#include "comm/schedule/team.h"

#include <initializer_list>
#include <optional>
#include <vector>

namespace cohort::comm {

/// Builds a Schedule from steps in the order in which one rank would run them one by one, and finds out which
/// of them may overlap: a step waits for an earlier step only if both touch the same elements and one of them
/// writes. Input and output count as overlapping where the call allows that. Sending, copying or combining no
/// elements adds no step.
///
/// Threads: one at a time.
class ScheduleBuilder {
 public:
  explicit ScheduleBuilder(const CallFacts& facts);

  /// Returns new scratch memory, which no other region overlaps.
  Region scratch(std::size_t count);

  /// Sends `from` once the steps in `after` are done. Returns the step; nullopt if `from` is empty.
  std::optional<int> send(int peer, Region from, std::vector<int> after = {});
  void recv(int peer, Region to);
  void copy(Region from, Region to);
  /// `to` = `from` ∘ `to` (kFromFirst) or `to` ∘ `from` (kToFirst).
  void combine(Region from, Region to, Order order);

  /// Rounds `region` to the wire type, if any message of this call is rounded. A rank that completes a sum
  /// for other ranks does this, so that all ranks get the same bits.
  void round(Region region);

  /// Messages without elements, ordered only by `after`. Return their step.
  int send_signal(int peer, std::vector<int> after = {});
  int receive_signal(int peer, std::vector<int> after = {});

  Schedule finish() &&;

 private:
  void add(Step step, std::initializer_list<Region> reads, std::initializer_list<Region> writes);
  AccessLog& log_of(Region region);
  std::ptrdiff_t offset_of(Region region) const;

  Width width_to(int peer) const;

  Schedule schedule_;
  std::vector<Width> widths_;  // of messages, by peer; empty if nothing is rounded
  bool may_overlap_ = true;
  std::ptrdiff_t output_in_input_ = 0;  // first element of the output relative to the input
  AccessLog call_log_, output_log_, scratch_log_;
};

/// One step per chunk, so that later steps can begin with the first chunk.
void copy_in_chunks(ScheduleBuilder& builder, Region from, Region to, std::size_t chunk_length);
void round_in_chunks(ScheduleBuilder& builder, Region region, std::size_t chunk_length);

/// The two halves of an algorithm. The first reduces part `me` of `source` over all team members into `own`,
/// the second fills every part of `data` from the member that owns the part.
struct Halves {
  void (*reduce_scatter)(ScheduleBuilder& builder, const Team& team, const Cut& source, Region own,
                         std::size_t chunk_length);
  void (*all_gather)(ScheduleBuilder& builder, const Team& team, const Cut& data, std::size_t chunk_length);
};

/// For reduce_scatter and all_gather, one half; for all_reduce, both halves on even parts.
Schedule schedule_of(const Halves& halves, const CallFacts& facts);

/// `count` elements of a region, from its element `first` on.
Region slice(Region region, std::size_t first, std::size_t count);

}  // namespace cohort::comm
