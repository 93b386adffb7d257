#pragma once

#include "base/result.h"
#include "comm/progress.h"
#include "comm/transport/frame.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace cohort::comm {

/// Where a transport leaves what comes in.
///
/// Threads: called from Transport::advance() only.
class FrameSink {
 public:
  virtual ~FrameSink() = default;

  /// Does somebody wait for this payload, so that it goes straight to where it belongs? If not, a transport
  /// may leave it where it is for a moment before it asks for a place: whoever waits may be on the way.
  virtual bool is_expected(int from, const FrameHeader& header) {
    (void)from, (void)header;
    return true;
  }
  /// Where shall this payload go? Exactly header.size_bytes long, or empty: it is not wanted, and is dropped.
  /// The room is good until advance() returns: a transport that has not written all of it by then asks again,
  /// with the same header, before it goes on. What is written stays. A transport whose hardware writes cannot
  /// ask again: for it the room is good until arrived(), lost(), or withdraw() of the header's group returns,
  /// whichever is first.
  virtual std::span<std::byte> place(int from, const FrameHeader& header) = 0;
  /// The payload of the last place() for this member is complete.
  virtual void arrived(int from, const FrameHeader& header) = 0;
  /// The payload of the last place() for this member will never be complete: its sender took it back.
  virtual void taken_back(int from, const FrameHeader& header) = 0;
  /// Something came from this member, if not a whole message: it lives.
  virtual void heard(int from) { (void)from; }
  /// Nothing more comes from this member, and nothing more reaches it. Once per member.
  virtual void lost(int member, const Error& why) = 0;
};

/// Bytes to the members of one job, in order for each pair, or lost for good.
///
/// Threads: send(), withdraw(), give_up() and close() from any thread; open() once; advance() from one thread
/// at a time. Of these, close() must not be called inside advance(), that is from a callback or the sink.
/// Lifetime: the sink and the doorbell must live until close() returns.
/// Failure: a member that cannot be reached is reported by lost(); a send to it is called back with an error.
class Transport : public Task {
 public:
  using Sent = std::function<void(const Status&)>;

  virtual int member() const = 0;  ///< who we are, 0 … num_members − 1
  virtual int num_members() const = 0;
  /// From now on advance() delivers to `sink`. `doorbell` is rung when there is something to advance.
  virtual void open(FrameSink& sink, Doorbell& doorbell) = 0;
  /// Queues a message; `payload` must live until `sent` is called, from advance(): it may be reused then. To
  /// oneself, too.
  virtual void send(int to, const FrameHeader& header, std::span<const std::byte> payload, Sent sent) = 0;
  /// Takes back the messages of this group up to this generation that are still queued: when it returns their
  /// payloads are not read any more, and their `sent` is not called any more; one that is being called may
  /// still run.
  virtual void withdraw(std::uint32_t group, std::uint32_t generation) = 0;
  /// Treats a member as lost from now on, whatever it does: lost() follows from advance(), here and over
  /// there.
  virtual void give_up(int member, const Error& why) = 0;
  /// Ends all traffic: the others see this member as lost. Nothing is called back after it returns.
  virtual void close() = 0;
};

}  // namespace cohort::comm
