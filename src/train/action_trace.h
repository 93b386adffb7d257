#pragma once

#include "base/ring_log.h"
#include "layout/program.h"

#include <chrono>
#include <cstdint>
#include <vector>

namespace cohort::train {

/// One action of one step, and when it ran.
struct TracedAction {
  std::int64_t round = 0;  ///< the number of begin_step() before it
  std::int64_t step = 0;
  std::size_t index = 0;  ///< in the program of the step
  Action action{};
  std::chrono::steady_clock::time_point begin{};
  std::chrono::steady_clock::time_point end{};
};

/// The times of the newest actions of an Engine, in a ring buffer for each lane.
///
/// Threads: add() from the threads of different lanes; fill() from one thread at a time; the other methods
/// while no program runs.
/// Cost: two readings of the clock and one assignment per action; `capacity` entries per lane.
class ActionTrace {
 public:
  ActionTrace(int num_lanes, std::size_t capacity);

  /// The step that the next program belongs to.
  void begin_step(std::int64_t step);
  /// All actions of the step are over.
  void end_step() { num_whole_ = num_begun_; }
  void add(std::size_t index, const Action& action, std::chrono::steady_clock::time_point begin,
           std::chrono::steady_clock::time_point end);
  /// The mark that a bucket is complete, which takes no time.
  void fill(std::size_t index, const Action& action);

  /// The steps of which every action has ended and was kept, in the order in which they ran and of their
  /// programs.
  std::vector<TracedAction> whole_steps() const;

 private:
  std::int64_t step_ = 0;
  std::int64_t num_begun_ = 0;
  std::int64_t num_whole_ = 0;
  std::vector<RingLog<TracedAction>> lanes_;
  RingLog<TracedAction> fills_;  // backward fills buckets of any lane
};

}  // namespace cohort::train
