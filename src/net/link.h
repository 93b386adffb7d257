#pragma once

#include "net/assembly.h"
#include "net/rail.h"

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace cohort::net {

/// The traffic between this member and one other. Rail 0 carries all messages in order; the payloads of long
/// messages are striped over all rails.
///
/// Threads: methods marked "lock held" need the station's lock and may be called from any thread; the others
/// belong to the thread that advances and must be called without the lock.
/// Lifetime: the station must outlive the link.
/// Failure: a member that is lost on one rail is lost. From then on the callback of every message to it gets
/// the reason.
class Link final {
 public:
  using Sent = comm::Transport::Sent;

  Link(Station& station, int other);

  // Lock held.
  void send(const comm::FrameHeader& header, std::span<const std::byte> payload, Sent sent);
  void withdraw(std::uint32_t group, std::uint32_t generation);
  void give_up(const Error& why);

  /// Cancels messages whose payload is still in the caller's memory; a farewell follows the others. Lock
  /// held.
  void leave();
  /// Closes all connections and drops all messages. No callback runs, and the peer is not told.
  void drop();
  bool advance();
  TimePoint wanted_at() const;
  /// The peer is lost, or its kernel has everything that was sent.
  bool is_through() const;
  bool is_lost() const { return is_lost_.load(std::memory_order_acquire); }
  Rail& rail(std::size_t number) { return *rails_[number]; }

  // Called by the rails, on the thread that advances, without the lock.
  /// Receives the incoming frames of all rails.
  Assembly<Link>& assembly() { return assembly_; }
  /// Bytes came from the peer: it is alive.
  void heard();
  /// Acknowledges the first `num_taken` bytes of the peer's stream on this rail.
  void send_acknowledgement(std::size_t rail, std::uint64_t num_taken);
  /// The peer has sent such an acknowledgement.
  Status acknowledgement_came(const comm::FrameHeader& header);
  /// Session of the peer; empty before the first connection. All rails must reach the same session.
  std::optional<std::uint64_t>& session() { return session_; }

  // The MessageSink of the assembly: whole messages.
  Result<bool> admit(const comm::FrameHeader& header);
  std::span<std::byte> buffer_for(const comm::FrameHeader& header);
  void arrived(const comm::FrameHeader& header);
  void withdrawn(const comm::FrameHeader& header);

 private:
  bool advance_rails();
  bool is_holding() const { return hold_until_ && rails_.front()->is_held(); }
  void hang_up();
  bool is_connected() const;
  void lose(const Error& why);
  void pay_farewell();
  bool run_callbacks();
  bool report();

  Station& station_;
  const int other_;
  const std::size_t stripe_from_;
  std::vector<std::unique_ptr<Rail>> rails_;
  std::vector<OutStream*> outs_;  // by rail
  std::uint64_t num_striped_ = 0;
  Assembly<Link> assembly_;
  std::optional<std::uint64_t> session_;
  std::optional<TimePoint> hold_until_;  // for a long message that no receive is waiting for yet
  std::optional<Error> loss_;
  std::atomic<bool> is_lost_{false};
  bool is_reported_ = false;
  std::atomic<bool> owes_farewell_{false};  // the peer was given up and has not been told
  std::vector<Sent> refused_;               // callbacks of messages sent after the loss
};

}  // namespace cohort::net
