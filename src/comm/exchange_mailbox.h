#pragma once

#include "comm/exchange.h"
#include "comm/mailbox.h"
#include "comm/progress.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace cohort::comm {

struct MailboxOptions {
  std::uint32_t group = 0;  ///< mailboxes of one group talk to each other; one per exchange and group
  std::uint32_t generation = 0;
  std::size_t message_cap_bytes = std::size_t{1} << 30;  ///< of a request or a reply
  int running_cap = 4;   ///< handlers that run at the same time, not counting those that wait in call()
  int thread_cap = 256;  ///< when so many wait in call(), further requests are answered with kExhausted
};

/// A mailbox whose requests and replies are messages of an exchange.
///
/// Threads: as every Mailbox. Threads for handlers are started when they are needed; see HandlerPool for the
/// rule.
/// Lifetime: exchange and runner must outlive it. Requests that come later are answered with kAborted,
/// until another mailbox takes the group.
/// Cost: a request of call() is copied once; otherwise payloads move.
std::unique_ptr<Mailbox> make_mailbox(Exchange& exchange, TaskRunner& runner, MailboxOptions options = {});

}  // namespace cohort::comm
