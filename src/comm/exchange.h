#pragma once

#include "comm/transport/transport.h"

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

namespace cohort::comm {

/// Messages over a transport, matched: a receive meets the message with the same (member, channel, group, generation,
/// number, tag), whichever comes first. A message without a receive is kept until one comes. Channels with a handler are
/// not matched: every message goes to the handler.
///
/// Threads: every method from any thread; callbacks run on the progress thread, without a lock held, and may call every
/// method but close().
/// Lifetime: a buffer given to send() or receive() must live until its callback, or until cancel() of its group returned.
/// Failure: what concerns a lost member is called back with kPeerLost; so is everything later.
class Exchange final : public Task, private FrameSink {
 public:
  struct Options {
    /// A member that sends nothing for this long, though asked for signs of life, is lost.
    std::chrono::nanoseconds liveness = std::chrono::milliseconds(500);
    /// What unexpected messages may take together before the sender counts as lost: it cannot be slowed down.
    std::size_t unexpected_cap_bytes = std::size_t{1} << 30;
  };
  using Done = std::function<void(const Status&)>;
  /// A whole message of a channel with a handler; the payload is the handler's.
  using Handler = std::function<void(int from, const FrameHeader&, std::vector<std::byte> payload)>;
  using LossHandler = std::function<void(int member, const Error&)>;

  Exchange(std::unique_ptr<Transport> transport, Clock& clock, Options options);
  ~Exchange() override;

  int member() const;
  int num_members() const;
  void open(Doorbell& doorbell);

  /// `payload` must live until `done`. size_bytes of the header is filled in.
  void send(int to, FrameHeader header, std::span<const std::byte> payload, Done done);
  /// `into` must be as long as the message: kCorrupt otherwise. Fails with the sender's signature and ours if they differ.
  void receive(int from, const FrameHeader& header, std::span<std::byte> into, Done done);
  /// Forgets every receive and every kept message of this group and generation, and drops later ones.
  void cancel(std::uint32_t group, std::uint32_t generation);

  /// Handlers are set before open() or for channels nobody uses yet.
  void handle(Channel channel, std::uint32_t group, Handler handler);
  void remove_handler(Channel channel, std::uint32_t group);
  /// Told of every loss, also of those before.
  int on_loss(LossHandler handler);
  void remove_loss_handler(int id);
  /// While somebody watches, members are asked for signs of life.
  void watch(bool on);

  bool advance() override;
  TimePoint wanted_at() const override;
  void close();
};

}  // namespace cohort::comm
