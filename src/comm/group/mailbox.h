#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "comm/group/work.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace cohort {

using Bytes = std::vector<std::byte>;

/// Remote procedure calls between members: a handler of one member answers requests of another.
///
///     mailbox.serve(kPull, [&](int from, std::span<const std::byte> request) -> Result<Bytes> { … });
///     COHORT_ASSIGN_OR_RETURN(const Bytes rows, mailbox.call(owner, kPull, request, clock.now() + 2s));
///
/// Threads: every method from any thread. Handlers run on threads of the mailbox, several at a time, never on
/// the caller's or the progress thread: they may block, and may call() themselves. call() must not be used on
/// the progress thread.
/// Lifetime: the destructor ends every call with kAborted, sends no more replies and waits for the handlers
/// that run. It must not run on a thread of the mailbox or the progress thread.
/// Failure: an error of a handler is returned by the call, with its code and text and the member that it came
/// from; kPeerLost if the member is lost; kNotFound if no handler serves the kind; kTimedOut at the deadline.
/// Cost: one message each way. Many calls may be in flight, of any size up to a cap.
class Mailbox {
 public:
  using Handler = std::function<Result<Bytes>(int from, std::span<const std::byte> request)>;

  virtual ~Mailbox() = default;

  virtual int member() const = 0;
  virtual int num_members() const = 0;
  /// Sends the request and waits for the reply.
  virtual Result<Bytes> call(int to, std::uint32_t kind, std::span<const std::byte> request,
                             TimePoint deadline) = 0;
  /// Sends the request; `done` is called once, on a thread of the mailbox, with the reply or the failure.
  virtual void start(int to, std::uint32_t kind, Bytes request, TimePoint deadline,
                     std::function<void(Result<Bytes>)> done) = 0;
  /// Registers the handler for requests of this kind, in the place of an earlier one.
  virtual void serve(std::uint32_t kind, Handler handler) = 0;
};

}  // namespace cohort
