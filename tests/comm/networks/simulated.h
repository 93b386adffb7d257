#pragma once

#include "base/clock.h"
#include "comm/transport/transport.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace cohort::comm {

class SimulatedWires;

/// The properties of the link from one member to another.
struct LinkFacts {
  std::chrono::nanoseconds latency = std::chrono::microseconds(50);
  double bytes_per_second = 1e9;
  double loss = 0;  ///< the probability that one transmission of a message is lost
  std::chrono::nanoseconds retransmit_after =
      std::chrono::milliseconds(10);  ///< when a lost message is sent again
  int losses_cap = 6;  ///< this many losses of one message in a row end the link, in both directions
};

/// A network on virtual time. A message leaves when those before it on the same link have left, takes size ÷
/// bandwidth, then the latency, and a retransmission for each loss: it arrives at
///
///     max(now, link free) + bytes / bytes_per_second + latency + losses × retransmit_after
///
/// and never before an earlier message of the pair. A member that closes is noticed by the others one latency
/// later.
///
/// It is driven in one of two ways. *By hand*, on one thread: add() the tasks, then run_until_idle() or
/// run_until(); the same seed gives the same run. *By a driver thread*, for members with progress threads of
/// their own: virtual time passes as real time does and jumps to the next arrival when every member is idle;
/// not deterministic.
///
/// Threads: take(), set_link() and clock() from any thread; driving by hand from one.
/// Lifetime: must outlive the users of its clock; may die before its transports.
class SimulatedNetwork {
 public:
  struct Options {
    std::uint64_t seed = 0;
    LinkFacts link{};   ///< of every pair, until set_link()
    TimePoint start{};  ///< of the virtual time
  };

  SimulatedNetwork(int num_members, Options options);
  ~SimulatedNetwork();
  SimulatedNetwork(const SimulatedNetwork&) = delete;
  SimulatedNetwork& operator=(const SimulatedNetwork&) = delete;

  int num_members() const;
  std::unique_ptr<Transport> take(int member);
  void set_link(int from, int to, const LinkFacts& facts);
  /// The virtual time.
  Clock& clock();

  /// Adds a task that is advanced when the network is driven by hand. The task must live until the last run.
  void add(Task& task);
  /// Runs until no message is in flight and no task makes progress. Tasks that wait for a later time keep
  /// waiting.
  void run_until_idle();
  /// Runs until this time, deadlines of tasks included.
  void run_until(TimePoint until);

  /// Starts the thread that drives the network. May be called once.
  void start_driver();

 private:
  void settle_tasks();
  void drive(const std::stop_token& stop);

  std::shared_ptr<SimulatedWires> wires_;
  std::vector<Task*> tasks_;
  std::jthread driver_;
};

/// A doorbell whose sleepers use a clock that runs at least as fast as real time. The thread that makes the
/// clock jump rings the doorbell.
class ClockedDoorbell final : public Doorbell {
 public:
  explicit ClockedDoorbell(Clock& clock) : clock_(clock) {}
  std::uint32_t arm() override { return inner_.arm(); }
  void disarm() override { inner_.disarm(); }
  void sleep(std::uint32_t ticket, TimePoint until) override;
  void ring() override { inner_.ring(); }

 private:
  Clock& clock_;
  LocalDoorbell inner_;
};

}  // namespace cohort::comm
