#pragma once

#include "base/result.h"
#include "comm/progress/progress.h"
#include "comm/transport/frame.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace cohort::comm {

/// Receives the messages of a transport.
///
/// Threads: called from Transport::advance() only.
class FrameSink {
 public:
  virtual ~FrameSink() = default;

  /// Whether a receive waits for this payload, which then needs no copy. If not, a transport may hold the
  /// message back for a moment before it calls buffer_for(): the receive may be about to start.
  virtual bool is_expected(int from, const FrameHeader& header) {
    (void)from, (void)header;
    return true;
  }
  /// The buffer for this payload, header.size_bytes long; or empty: the payload is dropped.
  /// Lifetime: until advance() returns. A transport that has not filled the buffer by then calls
  /// buffer_for() again with the same header before it goes on; bytes that were written stay. A transport
  /// whose hardware writes cannot call again: for it the buffer is valid until arrived(), lost(), or the
  /// return of withdraw() of the header's group, whichever is first.
  virtual std::span<std::byte> buffer_for(int from, const FrameHeader& header) = 0;
  /// The payload of the last buffer_for() for this member is complete.
  virtual void arrived(int from, const FrameHeader& header) = 0;
  /// The payload of the last buffer_for() for this member will never be complete: its sender has cancelled
  /// it.
  virtual void withdrawn(int from, const FrameHeader& header) = 0;
  /// Bytes have come from this member, perhaps less than a message: it is alive.
  virtual void heard(int from) { (void)from; }
  /// The member is lost: no more messages come from it or reach it. Called once per member.
  virtual void lost(int member, const Error& why) = 0;
};

/// Carries messages between the members of one job, reliably and in order for each pair, until a member is
/// lost.
///
/// Threads: send(), withdraw(), give_up() and close() from any thread; open() once; advance() from one thread
/// at a time. close() must not be called inside advance(), that is from a callback or the sink.
/// Lifetime: the sink and the doorbell must live until close() returns.
/// Failure: a member that cannot be reached is reported by lost(); a send to it is called back with an error.
class Transport : public Task {
 public:
  using Sent = std::function<void(const Status&)>;

  virtual int member() const = 0;  ///< the number of this member, 0 … num_members − 1
  virtual int num_members() const = 0;
  /// Lets advance() deliver messages to `sink`, and rings `doorbell` when there is something to advance.
  virtual void open(FrameSink& sink, Doorbell& doorbell) = 0;
  /// Queues a message; `to` may be this member itself. `payload` must live until advance() calls `sent`.
  virtual void send(int to, const FrameHeader& header, std::span<const std::byte> payload, Sent sent) = 0;
  /// Cancels the queued messages of this group up to this generation. Once this has returned, their payloads
  /// are not read any more and no further `sent` of theirs is called; one that has been called may still run.
  virtual void withdraw(std::uint32_t group, std::uint32_t generation) = 0;
  /// Treats a member as lost from now on: advance() calls lost(), here and at that member.
  virtual void give_up(int member, const Error& why) = 0;
  /// Ends all traffic: the others see this member as lost, after short messages that were queued before, such
  /// as the report of a failure. No callback runs once this has returned.
  virtual void close() = 0;
};

}  // namespace cohort::comm
