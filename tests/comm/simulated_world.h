#pragma once

#include "comm/exchange/exchange.h"
#include "comm/message_passing/communicator.h"
#include "comm/networks/faulty.h"
#include "comm/networks/simulated.h"

#include <functional>
#include <memory>
#include <vector>

namespace cohort::test {

/// The tasks of one simulated member, advanced by hand; elsewhere a progress thread does this.
class SimulatedRunner final : public comm::TaskRunner, public comm::Task {
 public:
  void add(comm::Task& task) override { tasks_.push_back(&task); }
  void remove(comm::Task& task) override { std::erase(tasks_, &task); }
  void wake() override {}

  bool advance() override {
    bool moved = false;
    for (std::size_t i = 0; i < tasks_.size(); ++i) moved = tasks_[i]->advance() || moved;
    return moved;
  }
  TimePoint wanted_at() const override {
    TimePoint at = TimePoint::max();
    for (const comm::Task* task : tasks_) at = std::min(at, task->wanted_at());
    return at;
  }

 private:
  std::vector<comm::Task*> tasks_;
};

/// n ranks with message-passing communicators on one thread and in virtual time: the same seed gives the same
/// run.
///
/// Threads: one.
class SimulatedWorld {
 public:
  struct Options {
    comm::SimulatedNetwork::Options network{};
    /// The faults of each member's transport.
    std::function<comm::TransportFaults(int member)> faults{};
    comm::MessagePassingCommunicator::Options communicator{};
  };
  SimulatedWorld(int world, const Options& options) : network_(world, options.network) {
    for (int r = 0; r < world; ++r) {
      auto transport = std::make_unique<comm::FaultyTransport>(network_.take(r), options.faults(r));
      members_.push_back(
          std::make_unique<Member>(std::move(transport), network_.clock(), options.communicator));
      network_.add(members_.back()->runner);
    }
  }

  Communicator& operator[](int rank) { return *members_[static_cast<std::size_t>(rank)]->communicator; }
  comm::SimulatedNetwork& network() { return network_; }

 private:
  struct Member {
    Member(std::unique_ptr<comm::Transport> transport, Clock& clock,
           const comm::MessagePassingCommunicator::Options& options)
        : exchange(std::move(transport), clock, {}) {
      exchange.open(doorbell);
      runner.add(exchange);
      communicator = value_or_throw(comm::MessagePassingCommunicator::make_world(exchange, runner, options));
    }

    comm::LocalDoorbell doorbell;
    SimulatedRunner runner;
    comm::Exchange exchange;
    std::unique_ptr<Communicator> communicator;
  };

  comm::SimulatedNetwork network_;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace cohort::test
