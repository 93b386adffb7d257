#pragma once

#include "ucx/in_order.h"
#include "ucx/sends.h"
#include "ucx/worker.h"

#include <optional>
#include <span>

namespace cohort::ucx {

/// A message that is being received.
struct Incoming {
  enum class State : std::uint8_t {
    kWhole,
    kOffered,    // announced: the receiver has to fetch the payload
    kReceiving,  // into the buffer of the sink
    kReceived,
    kFetching,  // into `copy`
    kBroken,
  };

  Link* link = nullptr;
  comm::FrameHeader header{};
  State state = State::kWhole;
  void* data = nullptr;                  // memory of UCX, until it is released
  std::vector<std::byte> copy{};         // or a copy
  std::span<const std::byte> payload{};  // of a kWhole message, in `data` or `copy`
};

/// A message as UCX hands it to the receive handler.
struct Parcel {
  void* data = nullptr;  ///< the data pointer or descriptor of UCX
  std::span<const std::byte> payload{};
  std::uint64_t attributes = 0;
};

// Ids of active messages: a long message has its envelope as UCX header, a short one in front of its payload.
inline constexpr unsigned kLongMessage = 1;
inline constexpr unsigned kShortMessage = 2;

/// How a link is closed.
enum class Parting : std::uint8_t {
  kAnswer,  ///< the peer has left and waits for our farewell
  kAtOnce,  ///< the peer is told before all queued messages
  kNone,    ///< the peer is gone: it is told nothing
};

/// The error of a member that has left.
Error left(int member);

/// The connection to one other member.
///
/// Threads: as the worker.
/// Lifetime: the worker and the Sends must outlive it.
/// Failure: an error of UCX, or a call of lose(), becomes loss(). The link then closes step by step;
/// has_ended() tells when UCX no longer uses memory of callers.
/// Cost: a payload up to kCopied bytes is copied, so that its send can be withdrawn at any time.
class Link {
 public:
  static constexpr std::size_t kCopied = 8192;

  Link(UcxWorker& worker, Sends& sends, int self, int member);
  Status connect(std::vector<std::byte> address);

  int member() const { return member_; }
  /// False for the own member, for members that this one does not talk to, and after close().
  bool is_connected() const { return endpoint_ != nullptr; }
  void send(const comm::FrameHeader& header, std::span<const std::byte> payload, comm::Transport::Sent sent);
  /// Takes a message from the receive handler; returns what the handler returns to UCX.
  ucs_status_t take(const Envelope& envelope, const Parcel& parcel);

  /// The next message in order, or null.
  Incoming* front() { return incoming_.front(); }
  void pop() { incoming_.pop(); }
  /// Drops all received messages that were not popped.
  void drop_incoming();
  /// Fetches the payload of an offered message into `room`, or drops it if `room` is empty.
  void receive(Incoming& offered, std::span<std::byte> room);
  /// Fetches the payloads of all offered messages into copies; the messages become kWhole.
  void fetch_all();
  /// Gives memory of UCX back.
  void release(Incoming& incoming);

  const std::optional<Error>& loss() const { return loss_; }
  void lose(const Error& why, Parting parting, TimePoint until);
  void say_farewell();
  /// Continues closing a lost link. UCX 1.13 aborts a process whose connection the peer closes during the
  /// handshake, so endpoints are closed only if they must be.
  void advance_end(TimePoint now);
  bool has_ended() const {
    return loss_ && (has_closed_ || parting_ != Parting::kNone) && !uses_memory() && num_fetching_ == 0;
  }
  /// Closes the endpoint at once, whatever is in flight.
  void close();
  /// Whether any message of the peer has arrived.
  bool has_come() const { return has_come_; }
  bool is_sending() const { return !in_flight_.empty(); }

  /// Drops the callbacks of sends in flight of this group up to this generation.
  void forget(std::uint32_t group, std::uint32_t generation);
  /// Whether UCX still reads or writes memory of this group.
  bool uses(std::uint32_t group, std::uint32_t generation) const;

  bool is_reported = false;  ///< the loss was reported to the sink

 private:
  static void on_sent(void* request, ucs_status_t status, void* outgoing);
  static void on_received(void* request, ucs_status_t status, std::size_t size_bytes, void* incoming);
  static void on_fetched(void* request, ucs_status_t status, std::size_t size_bytes, void* incoming);
  static void on_error(void* link, ucp_ep_h endpoint, ucs_status_t status);

  void post(Outgoing& outgoing, std::span<const std::byte> payload, std::uint64_t number);
  void post(Outgoing& outgoing, unsigned kind, std::span<const std::byte> header,
            std::span<const std::byte> data);
  void post_farewell(std::uint64_t number);
  void finish(Outgoing& outgoing, ucs_status_t status);
  using ReceiveDone = ucp_am_recv_data_nbx_callback_t;
  void start_receive(Incoming& offered, std::span<std::byte> room, ReceiveDone done);
  void end_receive(void* request, ucs_status_t status, Incoming& incoming, Incoming::State state);
  void fail(ucs_status_t status);
  void fail_copies();
  bool uses_memory() const;

  UcxWorker& worker_;
  Sends& sends_;
  const int self_;
  const int member_;
  std::vector<std::byte> address_;
  ucp_ep_h endpoint_ = nullptr;
  std::uint64_t num_sent_ = 0;
  std::vector<Outgoing*> in_flight_;
  InOrder<Incoming> incoming_;
  Incoming* receiving_ = nullptr;
  int num_fetching_ = 0;
  bool has_come_ = false;
  bool said_farewell_ = false;
  std::optional<Error> loss_;
  Parting parting_ = Parting::kNone;
  TimePoint close_at_{};
  bool is_ending_ = false;
  bool has_closed_ = false;
};

}  // namespace cohort::ucx
