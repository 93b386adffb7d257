#pragma once

#include "net/assembly.h"
#include "net/lane.h"
#include "net/lane_owner.h"

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace cohort::net {

/// Everything between this member and another one: lanes, of which the first brings messages in order, and
/// all together the payloads of long ones.
///
/// Threads: methods that say so with the station's lock held, from any thread; the others from the one that
/// advances, without it.
/// Failure: once the other member is lost, what is sent to it is called back with the reason. Who loses a
/// lane is lost.
class Link final : LaneOwner, MessageSink {
 public:
  using Sent = comm::Transport::Sent;

  Link(Station& station, int other);

  int other() const { return other_; }

  // With the lock held, from any thread.
  void send(const comm::FrameHeader& header, std::span<const std::byte> payload, Sent sent);
  void withdraw(std::uint32_t group, std::uint32_t generation);
  void give_up(const Error& why);

  /// Nothing more follows what was sent and is not the caller's any more. With the lock held.
  void leave();
  /// Forgets everything, without a word to anybody.
  void drop();
  bool advance();
  TimePoint wanted_at() const;
  /// The other one is lost, or has everything that was sent to it.
  bool is_through() const;
  bool is_lost() const { return is_lost_.load(std::memory_order_acquire); }
  Lane& lane(std::size_t number) { return *lanes_[number]; }

 private:
  // Of lanes.
  Assembly& assembly() override { return assembly_; }
  void heard() override;
  void send_receipt(std::size_t lane, std::uint64_t num_taken) override;
  Status receipt_came(const comm::FrameHeader& receipt) override;
  std::optional<std::uint64_t>& session() override { return session_; }
  // Of whole messages.
  Result<bool> admit(const comm::FrameHeader& header) override;
  std::span<std::byte> place(const comm::FrameHeader& header) override;
  void arrived(const comm::FrameHeader& header) override;
  void taken_back(const comm::FrameHeader& header) override;

  bool advance_lanes();
  bool is_holding() const { return hold_until_ && lanes_.front()->is_held(); }
  void hang_up();
  bool is_connected() const;
  void lose(const Error& why);
  void pay_farewell();
  bool call_back();
  bool report();

  Station& station_;
  const int other_;
  const std::size_t stripe_from_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<OutStream*> outs_;  // of the lanes
  std::uint64_t num_striped_ = 0;
  Assembly assembly_;
  std::optional<std::uint64_t> session_;
  std::optional<TimePoint> hold_until_;  // a long message that nobody waits for yet
  std::optional<Error> loss_;
  std::atomic<bool> is_lost_{false};
  bool is_reported_ = false;
  std::atomic<bool> owes_farewell_{false};  // it was given up, and does not know
  std::vector<Sent> refused_;
};

}  // namespace cohort::net
