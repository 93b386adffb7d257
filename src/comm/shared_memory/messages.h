#pragma once

#include "comm/exchange/exchange.h"
#include "comm/shared_memory/neighbours.h"

#include <memory>
#include <mutex>

namespace cohort::comm {

/// The exchange of messages between the members on this host, shared by all groups of this process and made
/// by the first call of exchange().
///
/// Threads: every method from any thread.
/// Lifetime: shared by groups and mailboxes; the last owner closes it.
class HostMessages {
 public:
  explicit HostMessages(std::shared_ptr<Neighbours> neighbours) : neighbours_(std::move(neighbours)) {}
  ~HostMessages();
  HostMessages(const HostMessages&) = delete;
  HostMessages& operator=(const HostMessages&) = delete;

  Exchange& exchange();
  Progress& progress() { return neighbours_->progress(); }

 private:
  const std::shared_ptr<Neighbours> neighbours_;
  RealClock clock_;
  std::mutex mutex_;
  std::unique_ptr<Exchange> exchange_;
};

}  // namespace cohort::comm
