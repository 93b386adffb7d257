#pragma once

#include "base/result.h"
#include "comm/progress.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace cohort::comm {

/// What a message is for.
enum class Channel : std::uint8_t { kCollective, kAnnounce, kMessage, kRequest, kReply, kQuery, kAnswer, kAlive, kAbort };

/// What precedes the payload of every message.
struct FrameHeader {
  Channel channel = Channel::kMessage;
  std::uint32_t group = 0;
  std::uint32_t generation = 0;
  std::uint64_t number = 0;     ///< which of the group's calls, requests, …
  std::uint64_t tag = 0;        ///< which message of that call
  std::uint64_t signature = 0;  ///< what the sender believes the call to be
  std::uint64_t size_bytes = 0;
};

/// Where a transport leaves what comes in.
///
/// Threads: called from Transport::advance() only.
class FrameSink {
 public:
  virtual ~FrameSink() = default;

  /// Where shall this payload go? Exactly header.size_bytes long. The room must stay until arrived() or lost().
  virtual std::span<std::byte> place(int from, const FrameHeader& header) = 0;
  /// The payload of the last place() for this member is complete.
  virtual void arrived(int from, const FrameHeader& header) = 0;
  /// Nothing more comes from this member, and nothing more reaches it. Once per member.
  virtual void lost(int member, const Error& why) = 0;
};

/// Bytes to the members of one job, in order for each pair, or lost for good.
///
/// Threads: send() and close() from any thread; open() once; advance() from one thread at a time.
/// Lifetime: the sink must outlive the transport or its close().
/// Failure: a member that cannot be reached is reported by lost(); a send to it is called back with an error.
class Transport : public Task {
 public:
  using Sent = std::function<void(const Status&)>;

  virtual int member() const = 0;   ///< who we are, 0 … num_members − 1
  virtual int num_members() const = 0;
  /// From now on advance() delivers to `sink`. `doorbell` is rung when there is something to advance.
  virtual void open(FrameSink& sink, Doorbell& doorbell) = 0;
  /// Queues a message; `payload` must live until `sent` is called, from advance(): it may be reused then. To oneself, too.
  virtual void send(int to, const FrameHeader& header, std::span<const std::byte> payload, Sent sent) = 0;
  /// Ends all traffic: the others see this member as lost. Nothing is called back after it returns.
  virtual void close() = 0;
};

}  // namespace cohort::comm
