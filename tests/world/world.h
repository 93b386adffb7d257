#pragma once

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"

#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cohort::test {

class SharedWorld;

/// What one rank of a world of threads sees of it.
///
/// Threads: the rank's own thread; stop_token(), log() and clock() may be handed on.
/// Failure: whatever waits here ends with the cause when the world is aborted.
class RankContext {
 public:
  /// The place of a rank whose fellows are other processes: the shared world is then its own alone.
  struct AmongProcesses {
    int rank = 0;
    int world = 1;
    std::function<Status(TimePoint deadline)> barrier{};
  };
  RankContext(SharedWorld& shared, int rank);
  /// The same rank, with its fellows in other processes.
  RankContext(const RankContext& own, AmongProcesses processes);

  int rank() const { return rank_; }
  int world() const;
  /// Requested when the world is aborted. Everything a rank waits for must end with it.
  std::stop_token stop_token() const;
  /// When the world is aborted at the latest.
  TimePoint deadline() const;
  Clock& clock() const;
  const Log& log() const { return log_; }

  /// Waits for every rank of the world. An error at once if one of them has returned instead.
  Status barrier();
  /// Waits until `predicate` holds. It is called with the world's lock held, after every change() and every
  /// millisecond.
  Status wait_for(const std::function<bool()>& predicate);
  /// Changes, with the world's lock held, what predicates look at.
  void change(const std::function<void()>& update);

  /// An error to return from the body: `return rank.failure("got {} parts", count);`
  template <class... Args>
  [[nodiscard]] Error failure(fmt::format_string<Args...> format, Args&&... args) const {
    return Error(ErrorCode::kBug, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  SharedWorld& shared_;
  const int rank_;
  Log log_;
  std::optional<AmongProcesses> processes_;
};

using RankBody = std::function<Status(RankContext&)>;

struct WorldOptions {
  std::chrono::nanoseconds deadline = std::chrono::seconds(20);  ///< from the start, for all ranks together
  std::chrono::nanoseconds grace = std::chrono::seconds(1);      ///< from the abort, for ranks to notice it
};

/// What became of a world. If one rank fails, or the deadline passes, all outcomes are errors:
///
///     rank[i] of the rank that failed first: its own error
///     rank[i] of ranks that hung at the deadline: kTimedOut, naming them
///     rank[i] of all others: kAborted around the words of that first failure, naming the rank
///
/// Lifetime: owns the threads of ranks that have not returned. The destructor gives them the grace once more;
/// a rank that still runs then cannot be ended, so one line goes to stderr and the process ends with code 70.
class [[nodiscard]] WorldOutcome {
 public:
  ~WorldOutcome();
  WorldOutcome(WorldOutcome&&) noexcept = default;
  WorldOutcome& operator=(WorldOutcome&&) = delete;

  std::vector<Status> rank{};
  std::vector<std::optional<Status>> own{};  ///< what the body itself came to; nothing if it has not returned
  std::optional<Error> cause{};              ///< the first failure, with its own code
  std::optional<int> first_failed{};         ///< nothing if all is well or the deadline was the cause
  std::vector<int> not_returned{};           ///< ranks that still ran when the grace was over
  std::vector<std::string> log{};

  bool ok() const { return !cause; }
  /// Every rank's error, then the log.
  std::string text() const;

 private:
  friend WorldOutcome run_world(int n, const RankBody& body, WorldOptions options);
  WorldOutcome(std::shared_ptr<SharedWorld> shared, std::vector<std::thread> threads,
               std::chrono::nanoseconds grace);

  std::shared_ptr<SharedWorld> shared_;
  std::vector<std::thread> threads_;
  std::chrono::nanoseconds grace_;
};

/// Runs `body` as n ranks, each a thread, and returns when all have returned, or when the world was aborted
/// and the grace is over. The first failure aborts the world; a body fails by returning an error or throwing.
///
///     const auto outcome = run_world(4, [](RankContext& rank) { return rank.barrier(); });
///     EXPECT_WORLD_OK(outcome);
///
/// Lifetime: the body is copied; what it refers to must outlive the outcome.
WorldOutcome run_world(int n, const RankBody& body, WorldOptions options = {});

}  // namespace cohort::test

/// Fails the test with every rank's error if the world failed.
#define EXPECT_WORLD_OK(outcome) EXPECT_TRUE((outcome).ok()) << (outcome).text()
#define ASSERT_WORLD_OK(outcome) ASSERT_TRUE((outcome).ok()) << (outcome).text()
