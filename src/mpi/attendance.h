#pragma once

#include "comm/message_passing/line.h"
#include "comm/message_passing/roll_call.h"
#include "mpi/member.h"

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace cohort::mpi {

/// Tracks which rank of a group has arrived at which collective call, because MPI does not tell. Ranks ask
/// each other when a call is late; a rank that leaves tells the others.
///
/// Threads: every method from any thread; the destructor not on the progress thread.
/// Lifetime: the Member must outlive it.
/// Cost: no messages while calls are in time; one atomic load per check.
class Attendance {
 public:
  Attendance(Member& member, comm::Line::Membership membership);
  ~Attendance();
  Attendance(const Attendance&) = delete;
  Attendance& operator=(const Attendance&) = delete;

  /// Records that this rank has arrived at call `sequence`.
  void come(std::uint64_t sequence) { num_calls_.store(sequence, std::memory_order_relaxed); }
  /// Asks all other ranks whether they have arrived at this call, unless the question is already in flight.
  void ask(std::uint64_t sequence);
  /// The ranks that have not arrived, or have not answered in time; nullopt while answers may still come.
  std::optional<std::vector<int>> missing() const;

  /// Tells all other ranks that this rank makes no further call.
  void leave();
  /// The ranks that left before they arrived at this call.
  std::vector<int> left_before(std::uint64_t sequence) const;
  /// Whether any rank has left. Cheap.
  bool has_anybody_left() const { return has_anybody_left_.load(std::memory_order_acquire); }

 private:
  int num_ranks() const { return static_cast<int>(membership_.members.size()); }
  void listen(comm::Channel channel, void (Attendance::*hear)(int rank, const comm::FrameHeader& header));
  void post(int rank, comm::Channel channel, std::uint64_t number, std::uint64_t count);
  void hear_question(int rank, const comm::FrameHeader& header);
  void hear_answer(int rank, const comm::FrameHeader& header);
  void hear_farewell(int rank, const comm::FrameHeader& header);

  Member& member_;
  const comm::Line::Membership membership_;
  std::atomic<std::uint64_t> num_calls_{0};
  std::atomic<bool> has_anybody_left_{false};
  mutable std::mutex mutex_;
  std::optional<comm::RollCall> roll_call_;
  std::map<int, std::uint64_t> left_;  // rank → number of calls it arrived at before it left
};

}  // namespace cohort::mpi
