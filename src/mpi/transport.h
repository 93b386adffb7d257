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

/// Frames as MPI messages. A header and a short payload travel in one message; a long payload follows in
/// pieces, with a tag of its own.
///
/// MPI has nothing to sleep on, so this transport polls: often after a message has moved, less and less often
/// while none does, at least every five milliseconds.
///
/// Threads: as every Transport.
/// Lifetime: as every Transport. Messages that MPI has not sent when this is closed are kept until the
/// process ends.
/// Failure: a member that closed is lost by its farewell; a member whose process ended is lost where MPI can
/// tell.
/// Cost: a payload is copied once on each side.
class MpiTransport final : public comm::Transport {
 public:
  struct Facts {
    std::shared_ptr<Library> library;
    std::vector<int> world_ranks;  ///< index: member; value: rank in MPI_COMM_WORLD
    int member = 0;
    int tag = 0;  ///< this tag and the next belong to this transport, on all members
  };
  explicit MpiTransport(Facts facts);
  ~MpiTransport() override { close(); }

  int member() const override { return facts_.member; }
  int num_members() const override { return static_cast<int>(facts_.world_ranks.size()); }
  void open(comm::FrameSink& sink, comm::Doorbell& doorbell) override;
  void send(int to, const comm::FrameHeader& header, std::span<const std::byte> payload, Sent sent) override;
  void withdraw(std::uint32_t group, std::uint32_t generation) override;
  void give_up(int member, const Error& why) override;
  void close() override;
  bool advance() override;
  TimePoint wanted_at() const override;
  /// A message is expected soon: poll often again.
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

  // Called with mutex_ held.
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

  const Facts facts_;
  std::vector<int> members_;  // index: rank in MPI_COMM_WORLD; value: member, −1 if it is none

  std::mutex advance_mutex_;  // held during advance(); taken before mutex_
  mutable std::mutex mutex_;
  comm::FrameSink* sink_ = nullptr;
  comm::Doorbell* doorbell_ = nullptr;
  bool closed_ = false;
  std::deque<std::shared_ptr<Outbound>> outbound_;
  std::deque<Receipt> receipts_;
  std::deque<Loss> losses_;
  std::vector<bool> is_lost_;

  // Used only by the thread in advance().
  std::vector<Inbound> inbound_;  // index: member
  int num_looks_ = 0;
  std::atomic<std::int64_t> moved_at_{0};  // steady clock, nanoseconds
  std::atomic<std::int64_t> look_at_{0};
};

}  // namespace cohort::mpi
