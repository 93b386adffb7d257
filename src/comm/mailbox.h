#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "comm/work.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace cohort {

using Bytes = std::vector<std::byte>;

/// Requests between members: one asks, a handler of the other answers.
///
///     mailbox.serve(kPull, [&](int from, std::span<const std::byte> request) -> Result<Bytes> { … });
///     COHORT_ASSIGN_OR_RETURN(const Bytes rows, mailbox.call(owner, kPull, request, clock.now() + 2s));
///
/// Threads: every method from any thread. Handlers run on threads of the mailbox, several at a time, never on
/// the caller's and never on the progress thread: they may take their time and may call() themselves. call()
/// must not be used on the progress thread.
/// Lifetime: the destructor ends every call with kAborted, answers nobody any more and waits for the handlers
/// that run. It must not run on a thread of the mailbox or the progress thread.
/// Failure: a handler's error comes back with its code and words, named as the other member's; a member that
/// is lost ends every call to it with kPeerLost; nobody serving that kind is kNotFound; a call never lasts
/// longer than its deadline.
/// Cost: one message each way; requests and replies of any size up to a cap, many in flight.
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
  /// From now on `handler` answers requests of this kind; a second one replaces the first.
  virtual void serve(std::uint32_t kind, Handler handler) = 0;
};

}  // namespace cohort
