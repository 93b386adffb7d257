#pragma once

#include "comm/scheduled/line.h"
#include "comm/scheduled/roll_call.h"
#include "mpi/member.h"

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace cohort::mpi {

/// Which rank of a group has come to which call: asked when a call is late, told by whoever leaves. MPI
/// itself does not say.
///
/// Threads: every method from any thread; the destructor not on the progress thread.
/// Lifetime: the member must outlive it.
/// Cost: nothing as long as calls are in time; one load for each look.
class Attendance {
 public:
  Attendance(Member& member, comm::Line::Place place);
  ~Attendance();
  Attendance(const Attendance&) = delete;
  Attendance& operator=(const Attendance&) = delete;

  /// This rank has come to call `sequence`.
  void come(std::uint64_t sequence) { num_calls_.store(sequence, std::memory_order_relaxed); }
  /// Asks all others whether they have come to this call, unless that is being done.
  void ask(std::uint64_t sequence);
  /// Those that have not, or that keep silent; nothing as long as somebody may still answer.
  std::optional<std::vector<int>> missing() const;

  /// Tells all others that this rank comes to no further call.
  void leave();
  /// The ranks that have left and will not come to this call.
  std::vector<int> left_before(std::uint64_t sequence) const;
  /// Cheap.
  bool has_anybody_left() const { return has_anybody_left_.load(std::memory_order_acquire); }

 private:
  int num_ranks() const { return static_cast<int>(place_.members.size()); }
  void listen(comm::Channel channel, void (Attendance::*hear)(int rank, const comm::FrameHeader& header));
  void post(int rank, comm::Channel channel, std::uint64_t number, std::uint64_t count);
  void hear_question(int rank, const comm::FrameHeader& header);
  void hear_answer(int rank, const comm::FrameHeader& header);
  void hear_farewell(int rank, const comm::FrameHeader& header);

  Member& member_;
  const comm::Line::Place place_;
  std::atomic<std::uint64_t> num_calls_{0};
  std::atomic<bool> has_anybody_left_{false};
  mutable std::mutex mutex_;
  std::optional<comm::RollCall> roll_call_;
  std::map<int, std::uint64_t> left_;  // rank → how many calls it has come to
};

}  // namespace cohort::mpi
