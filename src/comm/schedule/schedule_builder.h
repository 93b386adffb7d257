#pragma once

#include "comm/schedule/access_log.h"
#include "comm/schedule/call_facts.h"
#include "comm/schedule/schedule.h"

#include <initializer_list>
#include <optional>
#include <vector>

namespace cohort::comm {

/// Writes down steps as one rank would take them one after another, and finds out which of them may overlap:
/// a step waits for an earlier one only if both touch the same elements and one of them writes. Input and
/// output count as overlapping where the call allows it.
///
/// Moving or combining no elements leaves no step.
class ScheduleBuilder {
 public:
  explicit ScheduleBuilder(const CallFacts& facts);

  /// Scratch memory that nobody else has.
  Region scratch(std::size_t count);

  /// Not before `after` is done. Returns its step, if there is anything to send.
  std::optional<int> send(int peer, Region from, std::vector<int> after = {});
  void receive(int peer, Region to);
  void copy(Region from, Region to);
  /// `to` = `from` ∘ `to` (kFromFirst) or `to` ∘ `from` (kToFirst).
  void combine(Region from, Region to, Order order);

  /// `region` is rounded as if it had travelled, if anything in this call is. Whoever completes a sum that
  /// others get, too, does so: then everybody has the same bits.
  void round(Region region);

  /// Messages without elements, ordered by `after` alone. Return their step.
  int send_signal(int peer, std::vector<int> after = {});
  int receive_signal(int peer, std::vector<int> after = {});

  Schedule finish() &&;

 private:
  void add(Step step, std::initializer_list<Region> reads, std::initializer_list<Region> writes);
  AccessLog& log_of(Region region);
  std::ptrdiff_t place_of(Region region) const;

  Width width_to(int peer) const;

  Schedule schedule_;
  std::vector<Width> widths_;  // of messages, by peer; none where nothing is rounded
  bool may_overlap_ = true;
  std::ptrdiff_t output_in_input_ = 0;  // where the output begins, counted from the input, if they overlap
  AccessLog call_log_, output_log_, scratch_log_;
};

/// Chunk after chunk, so that what comes next can begin with the first.
void copy_in_chunks(ScheduleBuilder& builder, Region from, Region to, std::size_t chunk_length);
void round_in_chunks(ScheduleBuilder& builder, Region region, std::size_t chunk_length);

/// Of a region: `count` elements from its `first`.
Region slice(Region region, std::size_t first, std::size_t count);

}  // namespace cohort::comm
