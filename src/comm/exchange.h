#pragma once

#include "base/clock.h"
#include "comm/matching.h"
#include "comm/silence.h"
#include "comm/transport/transport.h"

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

/// An eighth of the machine's memory, and 1 GiB at least: whoever is late to a collective of much finds here
/// what the others have sent already.
std::size_t usual_unexpected_cap_bytes();

/// Messages over a transport, matched: a receive meets the message with the same (member, channel, group,
/// generation, number, tag), whichever comes first. A message without a receive is kept until one comes.
/// Channels with a handler are not matched: every message goes to the handler.
///
/// Threads: every method from any thread; callbacks run on the progress thread, inside advance(), without a
/// lock held, and may call every method but close(). cancel(), remove_handler() and remove_loss_handler()
/// called elsewhere wait for the advance() that runs, so nobody may hold a lock there that a callback wants.
/// Lifetime: a buffer given to send() or receive() must live until its callback, or until cancel() of its
/// group returned.
/// Failure: what concerns a lost member is called back with kPeerLost; so is everything later. What came
/// before the loss can still be received.
/// Cost: a payload with a receive waiting is written where it belongs; one that comes early is copied once
/// more.
class Exchange final : public Task, private FrameSink {
 public:
  struct Options {
    /// A member that sends nothing for this long, though asked for signs of life, is lost.
    std::chrono::nanoseconds liveness = std::chrono::milliseconds(500);
    /// What unexpected messages of one member may take together, and one message to a handler; with more it
    /// counts as lost: it cannot be slowed down.
    std::size_t unexpected_cap_bytes = usual_unexpected_cap_bytes();
  };
  using Done = std::function<void(const Status&)>;
  /// A whole message of a channel with a handler; the payload is the handler's.
  using Handler = std::function<void(int from, const FrameHeader&, std::vector<std::byte> payload)>;
  using LossHandler = std::function<void(int member, const Error&)>;

  Exchange(std::unique_ptr<Transport> transport, Clock& clock, Options options);
  ~Exchange() override { close(); }

  int member() const { return transport_->member(); }
  int num_members() const { return transport_->num_members(); }
  Clock& clock() const { return clock_; }
  void open(Doorbell& doorbell);

  /// `payload` must live until `done`. size_bytes and sequence of the header are filled in.
  void send(int to, FrameHeader header, std::span<const std::byte> payload, Done done);
  /// `into` must be as long as the message: kCorrupt otherwise. kUsage with both signatures if they differ.
  void receive(int from, const FrameHeader& header, std::span<std::byte> into, Done done);
  /// Forgets every send, receive and kept message of this group up to this generation without calling back,
  /// and drops later ones: a receive of such a generation is called back with kStale, a message is ignored.
  void cancel(std::uint32_t group, std::uint32_t generation);

  /// From now on every message of this channel and group goes to `handler`, those kept so far included; those
  /// of one member in the order in which it sent them.
  void handle(Channel channel, std::uint32_t group, Handler handler);
  /// When it returns the handler does not run and never will again.
  void remove_handler(Channel channel, std::uint32_t group);
  /// Told of every loss, also of those before.
  int on_loss(LossHandler handler);
  void remove_loss_handler(int id);
  /// Why a member is lost, if it is.
  std::optional<Error> loss(int member) const {
    const std::lock_guard lock(mutex_);
    return peer(member).loss;
  }
  /// While somebody watches, members are asked for signs of life. Calls are counted.
  void watch();
  void unwatch();

  bool advance() override;
  TimePoint wanted_at() const override;
  /// Ends all traffic: the others see this member as lost. Nothing is called back after it returns.
  void close();

 private:
  // A callback that waits for the next advance().
  struct Ready {
    std::uint32_t group = 0;
    std::uint32_t generation = 0;
    std::function<void()> run{};
  };
  enum class Fate : std::uint8_t { kIgnore, kReceive, kKeep };
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
    bool is_asked = false;  // a question for signs of life is under way
    std::optional<Error> loss{};
    std::optional<Inbound> inbound{};
  };

  Peer& peer(int member) { return peers_[static_cast<std::size_t>(member)]; }
  const Peer& peer(int member) const { return peers_[static_cast<std::size_t>(member)]; }

  bool is_expected(int from, const FrameHeader& header) override;
  std::span<std::byte> place(int from, const FrameHeader& header) override;
  void arrived(int from, const FrameHeader& header) override;
  void taken_back(int from, const FrameHeader& header) override;
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
  std::vector<Receive> take_receives_of(int member);
  bool run_ready();
  bool judge_silence();
  void ask(int member);
  void answer(int member, const FrameHeader& header);
  void wait_for_advance();

  const std::unique_ptr<Transport> transport_;
  Clock& clock_;
  const Options options_;

  std::mutex send_mutex_;  // orders sequence numbers as messages; taken before any other
  mutable std::mutex mutex_;
  std::condition_variable advanced_;
  std::thread::id advancing_{};  // nobody by default
  std::uint64_t num_advances_ = 0;
  bool closed_ = false;
  Doorbell* doorbell_ = nullptr;
  std::vector<Peer> peers_;
  Matching matching_;
  std::deque<Ready> ready_;
  std::map<std::uint32_t, std::uint32_t> cancelled_;  // group → last generation that is over
  std::map<std::pair<Channel, std::uint32_t>, Handler> handlers_;
  std::map<int, LossHandler> loss_handlers_;
  int next_loss_handler_ = 0;
  Silence silence_;
};

}  // namespace cohort::comm
