#pragma once

#include "comm/message_passing/announcement.h"
#include "comm/message_passing/executor.h"
#include "comm/message_passing/flight.h"
#include "comm/message_passing/scratch_pool.h"

#include <array>

namespace cohort::comm {

/// A collective call in flight: its schedule, and the comparison of calls around the ring of ranks. It is
/// done when its own steps are, when the previous rank has announced the same call, and when its own
/// announcement is sent.
///
/// 16-bit floats are combined in f32: the input is widened once, the result rounded once. A mean is divided
/// once.
///
/// Failure: numbers of a rank that made another call are refused by their receiver, so no result contains
/// them; the ring finds out which two calls differ.
class CollectiveFlight final : public Flight {
 public:
  CollectiveFlight(Facts facts, const Schedule& schedule, int rank, int world, ScratchPool& pool);

  void begin(Line& line) override;
  Status landed(Line& line, int ticket) override;
  bool is_done() const override;
  bool waits_for(int rank) const override;
  bool is_send(int ticket) const override;
  int peer_of(int ticket) const override;
  std::vector<int> pending_peers() const override;

 private:
  // Tickets of the announcements; those of the schedule are the indices of its steps.
  static constexpr int kTold = -1;
  static constexpr int kHeard = -2;
  static constexpr int kTurn = -3;  // other flights have had their turn

  void announce(Line& line);
  void go_on(Line& line);
  void hand_over(Line& line, const Executor::Message& message);
  Status compare(const Line& line) const;
  void finish();
  Executor::Memories memories(std::size_t scratch_count, ScratchPool& pool);

  const Announcement mine_;
  const std::uint64_t signature_;
  const std::array<std::byte, kAnnouncementBytes> to_next_;
  std::array<std::byte, kAnnouncementBytes> from_previous_{};
  int next_ = 0;
  int previous_ = 0;
  bool told_ = false;
  bool heard_ = false;
  bool finished_ = false;
  bool waits_for_turn_ = false;

  const int world_;
  const bool has_output_;
  const DType work_dtype_;
  ScratchPool::Scratch wide_input_;  // 16-bit floats that are combined, as f32; otherwise empty
  ScratchPool::Scratch wide_output_;
  ScratchPool::Scratch scratch_;
  Executor executor_;
};

}  // namespace cohort::comm
