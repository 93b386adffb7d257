#pragma once

#include "comm/group/engine.h"
#include "comm/message_passing/announcement.h"
#include "comm/message_passing/flight.h"

#include <memory>
#include <mutex>
#include <variant>
#include <vector>

namespace cohort::comm {

/// A message of a flight is done, or has failed.
struct Landed {
  std::uint64_t flight = 0;
  int ticket = 0;
  Status outcome{};
};
/// Another rank has failed or left.
struct Noticed {
  int from = 0;
  Notice notice;
};
/// Another rank is lost.
struct Lost {
  int rank = 0;
  Error why;
};
/// The generation of the group is over.
struct Ended {
  Error why;
  Ending ending = Ending::kTold;
};
/// Another rank asks how many calls this one has made.
struct Asked {
  int from = 0;
  std::uint64_t number = 0;
};
/// Another rank has made this many calls.
struct Answered {
  int from = 0;
  std::uint64_t number = 0;
  std::uint64_t num_started = 0;
};
/// The first receive from any rank under this tag has been started.
struct FromAnyBegan {
  std::uint64_t matcher = 0;
  std::uint32_t tag = 0;
  std::vector<std::uint64_t> next{};  ///< the number of the next message of each rank
};
using Event =
    std::variant<std::unique_ptr<Flight>, Landed, Noticed, Lost, Ended, Asked, Answered, FromAnyBegan>;

/// Events of a group that it has not handled yet. The inbox may outlive the group; events are then ignored.
///
/// Threads: every method from any thread.
class Inbox {
 public:
  void post(Event event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
  }
  std::vector<Event> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(events_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<Event> events_;
};

}  // namespace cohort::comm
