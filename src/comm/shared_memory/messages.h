#pragma once

#include "comm/exchange/exchange.h"
#include "comm/shared_memory/neighbours.h"

#include <memory>
#include <mutex>
#include <vector>

namespace cohort::comm {

/// The exchange that carries the messages of groups on this host, shared by all groups of this process.
///
/// Threads: every method from any thread.
/// Lifetime: shared by groups and mailboxes.
class HostMessages {
 public:
  virtual ~HostMessages() = default;
  virtual Exchange& exchange() = 0;
  virtual Progress& progress() = 0;
  /// The number of a member of this host in the exchange, which is its number in the job.
  virtual int member_of(int neighbour) const = 0;
  /// Ends the groups: see Exchange::end().
  virtual void end(const Error& why, Ending ending) = 0;
  /// Ends all traffic; the progress thread must have stopped.
  virtual void close() = 0;
};

/// An exchange of the members on this host, made by the first call of exchange(): for a job on one host.
///
/// Lifetime: the last owner closes the exchange.
class OwnHostMessages final : public HostMessages {
 public:
  explicit OwnHostMessages(std::shared_ptr<Neighbours> neighbours) : neighbours_(std::move(neighbours)) {}
  ~OwnHostMessages() override;
  OwnHostMessages(const OwnHostMessages&) = delete;
  OwnHostMessages& operator=(const OwnHostMessages&) = delete;

  Exchange& exchange() override;
  Progress& progress() override { return neighbours_->progress(); }
  int member_of(int neighbour) const override { return neighbour; }
  void end(const Error& why, Ending ending) override;
  void close() override;

 private:
  const std::shared_ptr<Neighbours> neighbours_;
  RealClock clock_;
  std::mutex mutex_;
  std::unique_ptr<Exchange> exchange_;
};

/// The exchange of all members of a job on several hosts.
///
/// Lifetime: `owner` keeps exchange and progress thread alive.
class JobMessages final : public HostMessages {
 public:
  JobMessages(std::shared_ptr<void> owner, Exchange& exchange, Progress& progress, std::vector<int> near)
      : owner_(std::move(owner)), exchange_(exchange), progress_(progress), near_(std::move(near)) {}

  Exchange& exchange() override { return exchange_; }
  Progress& progress() override { return progress_; }
  int member_of(int neighbour) const override { return near_[static_cast<std::size_t>(neighbour)]; }
  void end(const Error& why, Ending ending) override { exchange_.end(why, ending); }
  void close() override { exchange_.close(); }

 private:
  const std::shared_ptr<void> owner_;
  Exchange& exchange_;
  Progress& progress_;
  const std::vector<int> near_;  // members of the job, by their numbers on this host
};

}  // namespace cohort::comm
