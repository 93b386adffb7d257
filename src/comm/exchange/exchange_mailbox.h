#pragma once

#include "comm/exchange/exchange.h"
#include "comm/group/mailbox.h"
#include "comm/progress/progress.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace cohort::comm {

struct MailboxOptions {
  std::uint32_t group = 0;  ///< mailboxes with the same number talk to each other; one per exchange
  std::uint32_t generation = 0;
  std::size_t message_cap_bytes = std::size_t{1} << 30;  ///< of a request or a reply
  int running_cap = 4;   ///< handlers that run at the same time, without those that wait in call()
  int thread_cap = 256;  ///< when this many handlers wait in call(), further requests fail with kExhausted
};

/// A mailbox whose requests and replies are messages of an exchange.
///
/// Threads: as every Mailbox. Threads for handlers are started when they are needed, see HandlerPool.
/// Lifetime: exchange and runner must outlive it. Requests that come after the mailbox is destroyed are
/// answered with kAborted, until another mailbox takes the group.
/// Cost: call() copies the request once; other payloads are moved.
std::unique_ptr<Mailbox> make_mailbox(Exchange& exchange, TaskRunner& runner, MailboxOptions options = {});

}  // namespace cohort::comm
