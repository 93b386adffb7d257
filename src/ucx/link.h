#pragma once

#include "ucx/in_order.h"
#include "ucx/sends.h"
#include "ucx/worker.h"

#include <optional>
#include <span>

namespace cohort::ucx {

/// A message that comes in.
struct Incoming {
  enum class State : std::uint8_t {
    kWhole,
    kOffered,    // the sender waits until it is fetched
    kReceiving,  // to where the sink wants it
    kReceived,
    kFetching,  // into `copy`
    kBroken,
  };

  Link* link = nullptr;
  comm::FrameHeader header{};
  State state = State::kWhole;
  void* data = nullptr;                  // UCX's, until it is released
  std::vector<std::byte> copy{};         // or ours
  std::span<const std::byte> payload{};  // of a whole one, in one of them
};

/// A message as UCX hands it over.
struct Parcel {
  void* data = nullptr;  ///< what UCX calls it
  std::span<const std::byte> payload{};
  std::uint64_t attributes = 0;
};

// Under which numbers UCX knows messages: a long one has its envelope as header, a short one in front of its
// payload.
inline constexpr unsigned kLongMessage = 1;
inline constexpr unsigned kShortMessage = 2;

/// How a link is ended.
enum class Parting : std::uint8_t {
  kAnswer,  ///< the other side has left: it waits for our word
  kAtOnce,  ///< the other side hears of it before anything else
  kNone,    ///< the other side is gone
};

/// What a member that says farewell is lost with.
Error left(int member);

/// What goes to, and comes from, one other member.
///
/// Threads: as the worker.
/// Failure: what UCX reports, and what lose() is told, becomes loss(); then it ends step by step, and has
/// ended when no memory of others is in use any more.
/// Cost: a payload up to kCopied bytes is copied, so that it can be forgotten at any time.
class Link {
 public:
  static constexpr std::size_t kCopied = 8192;

  Link(UcxWorker& worker, Sends& sends, int self, int member);
  Status connect(std::vector<std::byte> address);

  int member() const { return member_; }
  /// Not to ourselves, nor to members we do not talk to, nor after the end.
  bool is_connected() const { return endpoint_ != nullptr; }
  void send(const comm::FrameHeader& header, std::span<const std::byte> payload, comm::Transport::Sent sent);
  /// What UCX calls with a message; the answer is UCX's.
  ucs_status_t take(const Envelope& envelope, const Parcel& parcel);

  /// The next message in order, or null.
  Incoming* front() { return incoming_.front(); }
  void pop() { incoming_.pop(); }
  /// Lets go of everything that has come and was not popped.
  void drop_incoming();
  /// Goes on with an offered one: into `room`, or nowhere if that is empty.
  void receive(Incoming& offered, std::span<std::byte> room);
  /// Goes on with all that are offered, without asking where they belong: they become whole.
  void fetch_all();
  /// UCX may have its memory back.
  void release(Incoming& incoming);

  const std::optional<Error>& loss() const { return loss_; }
  void lose(const Error& why, Parting parting, TimePoint until);
  void say_farewell();
  /// Goes on with the end of a lost link. UCX 1.13 aborts a process whose connection is closed by the other
  /// side while it is being made, so nothing is closed here that need not be.
  void advance_end(TimePoint now);
  bool has_ended() const {
    return loss_ && (has_closed_ || parting_ != Parting::kNone) && !uses_memory() && num_fetching_ == 0;
  }
  /// Closes what is left, in the middle of whatever it is.
  void close();
  /// Whether the other side has ever said anything.
  bool has_come() const { return has_come_; }
  bool is_sending() const { return !in_flight_.empty(); }

  /// Nothing in flight of this group up to this generation is called back any more.
  void forget(std::uint32_t group, std::uint32_t generation);
  /// Whether memory of this group is still being read or written.
  bool uses(std::uint32_t group, std::uint32_t generation) const;

  bool is_reported = false;  ///< to the sink

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
