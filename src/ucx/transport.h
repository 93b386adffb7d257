#pragma once

#include "ucx/link.h"

#include <atomic>

namespace cohort::ucx {

/// Messages over UCX: active messages. Short messages arrive whole; the receiver fetches long ones straight
/// into their buffers.
///
/// Nothing is encrypted and peers are not authenticated: for closed networks only.
///
/// Threads: as every transport. UCX is called only with the worker's mutex held: by advance(), and for a
/// moment by withdraw() and close().
/// Lifetime: the clock must outlive it.
/// Failure: a member is lost when UCX says so, when it leaves, or when it does not finish a withdrawn message
/// within the limit.
/// Cost: a payload up to Link::kCopied bytes is copied on both sides. A longer one is not copied by the
/// sender; the receiver copies it once if UCX sent it along, and not at all if UCX lets it be fetched. Long
/// messages of one sender are fetched one after the other.
class UcxTransport final : public comm::Transport {
 public:
  UcxTransport(std::shared_ptr<UcxWorker> worker, const UcxFacts& facts, Clock& clock,
               const UcxOptions& options);
  ~UcxTransport() override;
  Status connect(const UcxFacts& facts);

  int member() const override { return member_; }
  int num_members() const override { return static_cast<int>(links_.size()); }
  void open(comm::FrameSink& sink, comm::Doorbell& doorbell) override;
  void send(int to, const comm::FrameHeader& header, std::span<const std::byte> payload, Sent sent) override;
  void withdraw(std::uint32_t group, std::uint32_t generation) override;
  void give_up(int member, const Error& why) override;
  void close() override;
  bool advance() override;
  TimePoint wanted_at() const override;

 private:
  struct Message {
    int to = 0;
    comm::FrameHeader header{};
    std::span<const std::byte> payload{};
    Sent sent{};
  };
  struct GivenUp {
    int member = 0;
    Error why;
  };

  static ucs_status_t on_long(void* transport, const void* header, std::size_t header_bytes, void* data,
                              std::size_t data_bytes, const ucp_am_recv_param_t* param);
  static ucs_status_t on_short(void* transport, const void* header, std::size_t header_bytes, void* data,
                               std::size_t data_bytes, const ucp_am_recv_param_t* param);
  Status handle(unsigned kind, ucp_am_recv_callback_t handler);
  ucs_status_t take(std::span<const std::byte> header, const Parcel& parcel);

  using Lock = std::unique_lock<std::mutex>;  // of the worker's mutex; callbacks run without it

  bool advance_all();
  bool deliver(Link& link, Lock& lock);
  void deliver_whole(Link& link, Lock& lock);
  void begin_receive(Link& link, Lock& lock);
  bool deliver_to_self(Lock& lock);
  bool hand_over();
  void take_queue();
  bool call_back(Lock& lock);
  bool report(Link& link, Lock& lock);
  void settle(Link& link, std::uint32_t group, std::uint32_t generation);
  void linger();
  bool is_awaited(const Link& link) const;
  void end_worker();
  Link& link(int member) { return *links_[static_cast<std::size_t>(member)]; }

  const std::shared_ptr<UcxWorker> worker_;
  const int member_;
  const UcxOptions options_;
  Clock& clock_;
  std::atomic<comm::FrameSink*> sink_ = nullptr;
  comm::Doorbell* doorbell_ = nullptr;
  std::atomic<int> num_visitors_ = 0;  // threads that want the worker's mutex: advance() yields to them

  // Guarded by the worker's mutex.
  Sends sends_;
  std::vector<std::unique_ptr<Link>> links_;  // index: member; not all are connected
  std::deque<Message> to_self_;
  std::uint64_t num_withdrawals_ = 0;
  bool is_leaving_ = false;     // callbacks are dropped
  std::vector<Message> batch_;  // taken from queue_; its capacity is reused

  std::atomic<bool> advancing_ = false;
  std::atomic<bool> closed_ = false;  // set with mutex_ held
  std::atomic<bool> has_queue_ = false;
  std::atomic<TimePoint> wanted_at_ = TimePoint::max();
  std::mutex mutex_;  // guards the members below; taken after the worker's
  std::vector<Message> queue_;
  std::vector<GivenUp> given_up_;
};

}  // namespace cohort::ucx
