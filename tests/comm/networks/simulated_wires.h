#pragma once

#include "base/clock.h"
#include "base/manual_clock.h"
#include "comm/networks/simulated.h"
#include "comm/transport/transport.h"

#include <cohort/random.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace cohort::comm {

/// The queues, links and events of a SimulatedNetwork, shared with its transports.
///
/// Threads: every method from any thread; one mutex, never held while a callback runs.
class SimulatedWires {
 public:
  SimulatedWires(int num_members, const SimulatedNetwork::Options& options);

  int size() const { return static_cast<int>(ports_.size()); }
  ManualClock& clock() { return clock_; }
  void set_link(int from, int to, const LinkFacts& facts);

  void take(int member);
  void open(int member, FrameSink& sink, Doorbell& doorbell);
  void send(int from, int to, const FrameHeader& header, std::span<const std::byte> payload,
            Transport::Sent sent);
  void withdraw(int member, std::uint32_t group, std::uint32_t generation);
  void give_up(int member, int other, const Error& why);
  void close(int member);
  bool advance(int member);

  /// The time of the next arrival.
  std::optional<TimePoint> next_arrival() const;
  /// Moves the time to `when` (not back) and delivers all events that are due then. Wakes all members.
  void move_to(TimePoint when);
  /// True once every member is idle; false after `limit` of real time.
  bool wait_until_calm(std::chrono::nanoseconds limit);
  /// Waits until a message is in flight, for `limit` of real time at most.
  void wait_for_traffic(std::chrono::nanoseconds limit);

 private:
  enum class News : std::uint8_t {
    kMessage,
    kLoss,      // no further message comes from `from`
    kDeadLink,  // the message was lost losses_cap times
  };
  struct Event {
    News news = News::kMessage;
    int from = 0;
    int to = 0;
    FrameHeader header{};
    std::vector<std::byte> payload{};
    Transport::Sent sent{};
    std::optional<Error> loss{};
  };
  struct Receipt {
    FrameHeader header{};
    Transport::Sent sent{};
    Status outcome{};
  };
  struct Port {
    bool taken = false;
    bool closed = false;
    bool advancing = false;
    int calm_rounds = 0;  // calls of advance() in a row that found nothing
    FrameSink* sink = nullptr;
    Doorbell* doorbell = nullptr;
    std::deque<Event> inbox{};
    std::deque<Receipt> receipts{};
  };
  struct Link {
    LinkFacts facts{};
    TimePoint free_at{};
    TimePoint last_arrival{};
    std::uint64_t num_drawn = 0;
    bool is_cut = false;
  };
  using Events = std::map<std::pair<TimePoint, std::uint64_t>, Event>;

  Port& at(int member) { return ports_[static_cast<std::size_t>(member)]; }
  Link& link(int from, int to);
  // The caller holds the mutex.
  int draw_losses(Link& link, int from, int to);
  void schedule(TimePoint when, Event event);
  void cut(int from, int to, const Error& why);
  void fail_sends(int from, int to, const Error& why);
  void wake(Port& port);
  bool is_calm() const;
  void arrive(Event event);
  bool one_round(Port& port, FrameSink& sink);

  ManualClock clock_;
  const RandomStream random_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Port> ports_;
  std::vector<Link> links_;
  Events events_;
  std::uint64_t num_events_ = 0;
};

}  // namespace cohort::comm
