#pragma once

#include "base/clock.h"
#include "comm/transport/transport.h"
#include "mpi/inbound.h"
#include "mpi/library.h"
#include "mpi/outbound.h"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace cohort::mpi {

/// Frames as messages of MPI. A header travels with a short payload in one message; a long one follows in
/// pieces, on a tag of its own.
///
/// MPI rings no bell: whether something has come is asked, often after something has moved and less and less
/// often while nothing does, every five milliseconds in the end.
///
/// Threads: as every Transport.
/// Lifetime: as every Transport. What MPI has not sent when it is closed is kept until the process ends.
/// Failure: a member that closed says farewell; one whose process ended is lost where MPI can tell.
/// Cost: a payload is copied once on each side.
class MpiTransport final : public comm::Transport {
 public:
  struct Place {
    std::shared_ptr<Library> library;
    std::vector<int> world_ranks;  ///< by member
    int member = 0;
    int tag = 0;  ///< this and the next belong to this transport, on all members
  };
  explicit MpiTransport(Place place);
  ~MpiTransport() override { close(); }

  int member() const override { return place_.member; }
  int num_members() const override { return static_cast<int>(place_.world_ranks.size()); }
  void open(comm::FrameSink& sink, comm::Doorbell& doorbell) override;
  void send(int to, const comm::FrameHeader& header, std::span<const std::byte> payload, Sent sent) override;
  void withdraw(std::uint32_t group, std::uint32_t generation) override;
  void give_up(int member, const Error& why) override;
  void close() override;
  bool advance() override;
  TimePoint wanted_at() const override;
  /// Something is expected: ask often again.
  void stir();

 private:
  struct Loss {
    int member;
    Error why;
  };
  struct Receipt {
    Sent sent;
    Status outcome;
  };

  // With the lock held.
  void post(int to, const comm::FrameHeader& header, std::span<const std::byte> payload, Sent sent);
  void mark_lost(int member, const Error& why);
  void take_sent();

  bool look_around();
  bool tell_receipts();
  bool tell_losses();
  bool receive();
  bool find_header();
  bool begin_header(int member, int size_bytes);
  bool take_in(int member);
  void note_code(int code);
  void note_losses();
  bool is_lost(int member) const;

  const Place place_;
  std::vector<int> members_;  // by rank in the world, −1 for strangers

  std::mutex advance_mutex_;  // held while it advances; taken before the other
  mutable std::mutex mutex_;
  comm::FrameSink* sink_ = nullptr;
  comm::Doorbell* doorbell_ = nullptr;
  bool closed_ = false;
  std::deque<std::shared_ptr<Outbound>> outbound_;
  std::deque<Receipt> receipts_;
  std::deque<Loss> losses_;
  std::vector<bool> is_lost_;

  // Of whoever advances.
  std::vector<Inbound> inbound_;  // by member
  int num_looks_ = 0;
  std::atomic<std::int64_t> moved_at_{0};  // of the steady clock
  std::atomic<std::int64_t> look_at_{0};
};

}  // namespace cohort::mpi
