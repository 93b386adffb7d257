#pragma once

#include "comm/schedule/schedule.h"
#include <cohort/numbers.h>
#include <cohort/reduce_op.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

namespace cohort::comm {

/// Runs the schedule of one rank as far as possible without waiting.
///
/// A step begins as soon as the steps that it depends on are done. The executor copies and combines itself;
/// next() returns the messages to send and receive, and finished() tells that one of them is done.
///
/// A narrow message is rounded into memory of its own before it is sent; it is received into the second half
/// of its target and widened from there.
///
/// Threads: one at a time.
/// Lifetime: the caller owns the memories, which must live until is_done().
/// Cost: constant per step and per edge; two bytes for every element of a narrow message until it is sent.
class Executor {
 public:
  /// The memory of a call. `scratch` has the schedule's number of elements, of the same dtype.
  struct Memories {
    ConstNumbers input{};
    Numbers output{};
    Numbers scratch{};
    ReduceOp reduce_op = ReduceOp::kSum;
  };
  /// A send or a receive that may begin now.
  struct Message {
    int step = 0;
    StepKind kind = StepKind::kSend;
    int peer = 0;
    /// Numbers the messages from the sender to the receiver: both count the same.
    std::uint64_t index = 0;
    ConstNumbers from{};  ///< of a send
    Numbers to{};         ///< of a receive
  };

  Executor(Schedule schedule, const Memories& memories);

  /// Returns the messages that may begin now, each once. If there are none, runs local steps until there are,
  /// or until `budget_bytes`, which is counted down by the bytes of each step, is 0.
  std::vector<Message> next(std::size_t& budget_bytes);
  /// True if next() has something to do.
  bool can_go_on() const { return !ready_messages_.empty() || !ready_work_.empty(); }
  /// A message of next() is done.
  void finished(int step);
  bool is_done() const { return num_left_ == 0; }
  /// True if a message to or from this rank is not done.
  bool waits_for(int peer) const;
  /// The ranks whose messages have begun and are not done.
  std::vector<int> pending_peers() const;
  const Step& step(int index) const { return schedule_.steps[static_cast<std::size_t>(index)]; }

 private:
  enum class Stage : std::uint8_t { kNotReady, kBegun, kDone };
  struct StepState {
    Stage stage = Stage::kNotReady;
    int num_blockers = 0;
    std::uint64_t index = 0;
    std::vector<int> followers{};
  };

  void link();
  void number_messages();
  void check_regions() const;
  void make_ready(int index);
  std::vector<Message> take_messages();
  void run_locally(const Step& step);
  Message message(int index);
  ConstNumbers narrowed(int index);
  Numbers narrow_end(const Region& region) const;
  ConstNumbers readable(const Region& region) const;
  Numbers writable(const Region& region) const;

  const Schedule schedule_;
  const Memories memories_;
  std::vector<StepState> states_;
  const DType wire_dtype_;
  std::deque<int> ready_messages_;
  std::deque<int> ready_work_;
  std::map<int, std::unique_ptr<std::byte[]>> narrowed_;  // of sends in flight, by step
  std::size_t num_left_;
};

}  // namespace cohort::comm
