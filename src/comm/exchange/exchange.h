#pragma once

#include "base/clock.h"
#include "comm/exchange/matching.h"
#include "comm/exchange/open_offers.h"
#include "comm/exchange/send_window.h"
#include "comm/exchange/silence.h"
#include "comm/group/engine.h"
#include "comm/transport/transport.h"
#include <cohort/default_limit.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace cohort::comm {

inline constexpr std::size_t kLeastUnexpectedCapBytes = std::size_t{1} << 30;
/// An eighth of the machine's memory, but at least 1 GiB: a rank that is late to a large collective keeps
/// here the messages that the others have sent already.
std::size_t usual_unexpected_cap_bytes();

/// A caller that waits for members.
class Waiter {
 public:
  virtual ~Waiter() = default;
  /// The call that waits, for messages. Called from advance().
  virtual std::string waiting_call() const = 0;
};

/// Matches messages of a transport with receives: a receive gets the message with the same (member, channel,
/// group, generation, number, tag), whichever of the two comes first. A message that no receive is waiting
/// for is kept. Messages of a channel with a handler are not matched: they go to the handler.
///
/// A member has limited memory for messages that it must keep. When half of it may be used, the other members
/// hold further messages back, offer them, and send each one when its receive has started. Only messages that
/// receives are made for are held back (can_be_held); they overtake each other, others overtake them.
///
/// Threads: every method from any thread; callbacks run on the progress thread, inside advance(), without a
/// lock held, and may call every method but close(). On other threads, cancel(), remove_handler() and
/// remove_loss_handler() wait for the advance() that runs: the caller must not hold a lock that a callback
/// takes.
/// Lifetime: a buffer given to send() or recv() must live until its callback, or until cancel() of its
/// group returned.
/// Failure: sends to a lost member and receives from it end with kPeerLost, those that start later as well.
/// Messages that came before the loss can still be received.
/// Cost: a payload with a receive waiting is written to the buffer of the receive; one that comes earlier is
/// copied once.
class Exchange final : public Task, private FrameSink {
 public:
  struct Options {
    /// A member that sends nothing for this long, though asked for signs of life, is lost.
    std::chrono::nanoseconds liveness = DefaultLimit::kLiveness;
    /// The most bytes in unexpected messages of one member, and in one message to a handler. Members hold
    /// messages back from half of it on; the other half is for those that cannot be held back. A member that
    /// sends more is treated as lost. All members must have the same cap, or at least
    /// kLeastUnexpectedCapBytes.
    std::size_t unexpected_cap_bytes = usual_unexpected_cap_bytes();
    /// Receives warnings about members that send nothing; called from advance().
    std::function<void(const std::string&)> warn{};
  };
  using Done = std::function<void(const Status&)>;
  /// Gets a whole message; the payload is the handler's.
  using Handler = std::function<void(int from, const FrameHeader&, std::vector<std::byte> payload)>;
  using LossHandler = std::function<void(int member, const Error&)>;
  using EndHandler = std::function<void(const Error&, Ending)>;

  Exchange(std::unique_ptr<Transport> transport, Clock& clock, Options options);
  ~Exchange() override { close(); }

  int member() const { return transport_->member(); }
  int num_members() const { return transport_->num_members(); }
  Clock& clock() const { return clock_; }
  void open(Doorbell& doorbell);

  /// `payload` must live until `done`. size_bytes and sequence of the header are filled in.
  void send(int to, FrameHeader header, std::span<const std::byte> payload, Done done);
  /// `into` must be as long as the message: kCorrupt otherwise. kUsage with both signatures if they differ.
  void recv(int from, const FrameHeader& header, std::span<std::byte> into, Done done);
  /// Drops every send, receive and kept message of this group up to this generation without calling back.
  /// Later receives of such a generation end with kStale, later messages are dropped.
  void cancel(std::uint32_t group, std::uint32_t generation);

  /// Passes every message of this channel and group to `handler`, also those kept so far; messages of one
  /// member come in the order in which it sent them, unless they can be held back.
  void handle(Channel channel, std::uint32_t group, Handler handler);
  /// Once this has returned, the handler does not run and never will again.
  void remove_handler(Channel channel, std::uint32_t group);
  /// Calls `handler` for every lost member, also for those lost before.
  int on_loss(LossHandler handler);
  void remove_loss_handler(int id);
  /// Ends every group: calls the handlers of on_end(), now and when they are added later. The first call
  /// counts.
  void end(const Error& why, Ending ending);
  int on_end(EndHandler handler);
  void remove_end_handler(int id);
  /// Why a member is lost, if it is.
  std::optional<Error> loss(int member) const {
    const std::lock_guard lock(mutex_);
    return peer(member).loss;
  }
  /// Asks members for signs of life until unwatch() with the same waiter. Calls are counted.
  void watch(const Waiter* waiter = nullptr);
  void unwatch(const Waiter* waiter = nullptr);

  bool advance() override;
  TimePoint wanted_at() const override;
  /// Ends all traffic: the others see this member as lost. No callback runs once this has returned.
  void close();

 private:
  // A callback for the next advance().
  struct Ready {
    std::uint32_t group = 0;
    std::uint32_t generation = 0;
    std::function<void()> run{};
  };
  enum class Fate : std::uint8_t { kIgnore, kReceive, kKeep, kRead };
  // The message that is coming in from one member.
  struct Inbound {
    Fate fate = Fate::kIgnore;
    FrameHeader header{};
    Receive receive{};
    Status fits{};
    std::vector<std::byte> payload{};
  };
  struct Peer {
    std::uint64_t num_sent = 0;
    std::uint64_t last_sequence = 0;
    std::uint64_t num_offered = 0;  // MessageOffer::num_sent of its last offer
    bool is_asked = false;          // a question for a sign of life is in flight
    std::optional<Error> loss{};
    std::optional<Inbound> inbound{};
  };

  Peer& peer(int member) { return peers_[static_cast<std::size_t>(member)]; }
  const Peer& peer(int member) const { return peers_[static_cast<std::size_t>(member)]; }

  bool is_expected(int from, const FrameHeader& header) override;
  std::span<std::byte> buffer_for(int from, const FrameHeader& header) override;
  void arrived(int from, const FrameHeader& header) override;
  void withdrawn(int from, const FrameHeader& header) override;
  void heard(int from) override {
    const std::lock_guard lock(mutex_);
    silence_.heard(from);
  }
  void lost(int member, const Error& why) override;

  // With the lock held.
  Inbound begin_inbound(int from, const FrameHeader& header);
  bool is_stale(const FrameHeader& header) const;
  void keep(KeptMessage message);
  void meet(KeptMessage message, Receive receive);
  void make_ready(const FrameHeader& header, std::function<void()> run);
  void hand_over(KeptMessage message);
  void give_up_flood(int from);
  void forget(std::uint32_t group, std::uint32_t generation);

  void run_handler(KeptMessage message);
  void finish(int from, Inbound inbound);
  void tell_loss(int id, int member);
  void tell_end(int id);
  std::vector<Receive> take_receives_of(int member);
  bool run_ready();
  bool judge_silence();
  void ask(int member);
  void answer(int member, const FrameHeader& header);
  void wait_for_advance();

  // Messages that are held back: in holding.cpp.
  SendWindow& window(int member) { return windows_[static_cast<std::size_t>(member)]; }
  void post(int to, FrameHeader header, std::span<const std::byte> payload, Done done);
  void post(int to, Channel channel, std::vector<std::byte> payload);
  void forget_held(std::uint32_t group, std::uint32_t generation);
  void fail_held(int member, const Error& why);
  Status read(int from, const FrameHeader& header, std::span<const std::byte> payload);
  void hear(int from, const MessageOffer& offer);
  void hear(int from, const OfferAnswer& answer);
  OfferAnswer::Verdict judge(int from, const MessageOffer& offer);
  void call_for(const OpenOffers::Ticket& ticket, OfferAnswer::Verdict verdict);

  const std::unique_ptr<Transport> transport_;
  Clock& clock_;
  const Options options_;

  // Keeps sequence numbers in the order of messages, and guards windows_; taken before any other mutex.
  std::mutex send_mutex_;
  std::vector<SendWindow> windows_;
  mutable std::mutex mutex_;
  std::condition_variable advanced_;
  std::thread::id advancing_{};  // the thread inside advance(), if any
  std::uint64_t num_advances_ = 0;
  bool closed_ = false;
  Doorbell* doorbell_ = nullptr;
  std::vector<Peer> peers_;
  Matching matching_;
  OpenOffers offers_;
  std::deque<Ready> ready_;
  std::map<std::uint32_t, std::uint32_t> cancelled_;  // group → last generation that is over
  std::map<std::pair<Channel, std::uint32_t>, Handler> handlers_;
  std::map<int, LossHandler> loss_handlers_;
  int next_loss_handler_ = 0;
  std::map<int, EndHandler> end_handlers_;
  int next_end_handler_ = 0;
  std::optional<Error> end_;
  Ending ending_ = Ending::kTold;
  Silence silence_;
  std::vector<const Waiter*> waiters_;
};

}  // namespace cohort::comm
