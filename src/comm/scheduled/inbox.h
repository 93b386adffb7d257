#pragma once

#include "comm/scheduled/flight.h"
#include "comm/scheduled/notice.h"

#include <memory>
#include <mutex>
#include <variant>
#include <vector>

namespace cohort::comm {

/// A message of a flight is through, or has failed.
struct Landed {
  std::uint64_t flight = 0;
  int ticket = 0;
  Status outcome{};
};
/// Another rank said that it will not go on.
struct Noticed {
  int from = 0;
  Notice notice;
};
/// Another rank cannot be reached any more.
struct Lost {
  int rank = 0;
  Error why;
};
/// Another rank asks how many calls this one has made.
struct Asked {
  int from = 0;
  std::uint64_t number = 0;
};
/// Another rank answers that question.
struct Answered {
  int from = 0;
  std::uint64_t number = 0;
  std::uint64_t num_started = 0;
};
/// Somebody wants to receive from anybody under this tag, for the first time.
struct Pricked {
  std::uint64_t ears = 0;
  std::uint32_t tag = 0;
  std::vector<std::uint64_t> next{};  ///< the number of the next message of each rank
};
using Event = std::variant<std::unique_ptr<Flight>, Landed, Noticed, Lost, Asked, Answered, Pricked>;

/// What happened to a group and has not been looked at yet. It may outlive the group: nobody looks then.
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
