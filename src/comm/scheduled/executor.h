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

/// Runs one rank's schedule as far as it goes without waiting.
///
/// Steps begin as soon as those they come after are done. Copies and combinations are done here; what to send
/// and where to receive is handed out by next(), and finished() says that it is through.
///
/// What travels narrow is rounded into memory of its own before it is sent; it is received in the second half
/// of where it belongs and widened from there.
///
/// Threads: one at a time.
/// Lifetime: the memories are the caller's and must live until it is done.
/// Cost: constant per step and per edge; two bytes for every element of a narrow message until it is sent.
class Executor {
 public:
  /// What a call works on. `scratch` has the schedule's number of elements of the same type.
  struct Memories {
    ConstNumbers input{};
    Numbers output{};
    Numbers scratch{};
    ReduceOp reduce_op = ReduceOp::kSum;
  };
  /// A send or a receive that may begin now.
  struct Message {
    int step = 0;
    Verb verb = Verb::kSend;
    int peer = 0;
    std::uint64_t index =
        0;                ///< counts the messages of this direction between the two: both ends count the same
    ConstNumbers from{};  ///< of a send
    Numbers to{};         ///< of a receive
  };

  Executor(Schedule schedule, const Memories& memories);

  /// Returns the messages that may begin now, each once. If there are none, does local steps until there are,
  /// or until as many bytes as `budget_bytes`, which is counted down, are worked on.
  std::vector<Message> next(std::size_t& budget_bytes);
  /// True if next() would go on.
  bool can_go_on() const { return !ready_messages_.empty() || !ready_work_.empty(); }
  /// A message of next() is through.
  void finished(int step);
  bool is_done() const { return num_left_ == 0; }
  /// True if a message to or from this rank is still to come or under way.
  bool waits_for(int peer) const;
  /// The ranks whose messages have begun and are not through.
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
  std::map<int, std::unique_ptr<std::byte[]>> narrowed_;  // of sends under way, by step
  std::size_t num_left_;
};

}  // namespace cohort::comm
