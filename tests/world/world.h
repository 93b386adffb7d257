#pragma once

#include "base/clock.h"
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

/// The view of one rank on a world of ranks that are threads.
///
/// Threads: the thread of the rank; the results of stop_token() and clock(), and say(), may be used on any
/// thread.
/// Failure: every wait returns the cause when the world is aborted.
class RankContext {
 public:
  /// Rank and world size of a rank whose peers are other processes. Its SharedWorld then has one rank.
  struct AmongProcesses {
    int rank = 0;
    int world = 1;
    std::function<Status(TimePoint deadline)> barrier{};
  };
  RankContext(SharedWorld& shared, int rank);
  /// The same rank with peers in other processes.
  RankContext(const RankContext& own, AmongProcesses processes);

  int rank() const { return rank_; }
  int size() const;
  /// Stop is requested when the world is aborted. Every wait of a rank must end then.
  std::stop_token stop_token() const;
  /// The time at which the world is aborted if it still runs.
  TimePoint deadline() const;
  Clock& clock() const;
  /// Appends a line to the log of the world.
  void say(const std::string& text) const;

  /// Waits for every rank of the world. Fails at once if a rank has returned instead of coming.
  Status barrier();
  /// Waits until `predicate` returns true. The predicate is called with the lock of the world held, after
  /// every change() and every millisecond.
  Status wait_for(const std::function<bool()>& predicate);
  /// Runs `update` with the lock of the world held, then wakes every wait_for().
  void change(const std::function<void()>& update);

  /// An error to return from the body: `return rank.failure("got {} parts", count);`
  template <class... Args>
  [[nodiscard]] Error failure(fmt::format_string<Args...> format, Args&&... args) const {
    return Error(ErrorCode::kBug, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  SharedWorld& shared_;
  const int rank_;
  std::optional<AmongProcesses> processes_;
};

using RankBody = std::function<Status(RankContext&)>;

struct WorldOptions {
  std::chrono::nanoseconds deadline = std::chrono::seconds(20);  ///< from the start, for all ranks
  std::chrono::nanoseconds grace = std::chrono::seconds(1);      ///< from the abort, for ranks to return
};

/// The result of a world. If a rank fails, or the deadline passes, every rank has an error:
///
///     rank[i] of the rank that failed first: its own error
///     rank[i] of the ranks that still ran at the deadline: kTimedOut, with their numbers
///     rank[i] of all other ranks: kAborted, with the text of the first failure and the number of its rank
///
/// Lifetime: owns the threads of ranks that have not returned. The destructor waits for them once more, for
/// `grace`. A thread cannot be killed: if one still runs then, the destructor writes a line to stderr and
/// ends the process with code 70.
class [[nodiscard]] WorldOutcome {
 public:
  ~WorldOutcome();
  WorldOutcome(WorldOutcome&&) noexcept = default;
  WorldOutcome& operator=(WorldOutcome&&) = delete;

  std::vector<Status> rank{};
  std::vector<std::optional<Status>> own{};  ///< the result of the body; nothing if it has not returned
  std::optional<Error> cause{};              ///< the first failure, with its own code
  std::optional<int> first_failed{};         ///< nothing after success or a passed deadline
  std::vector<int> not_returned{};           ///< ranks that still ran at the end of the grace
  std::vector<std::string> log{};

  bool ok() const { return !cause; }
  /// The errors of all ranks, then the log.
  std::string text() const;

 private:
  friend WorldOutcome run_world(int n, const RankBody& body, WorldOptions options);
  WorldOutcome(std::shared_ptr<SharedWorld> shared, std::vector<std::thread> threads,
               std::chrono::nanoseconds grace);

  std::shared_ptr<SharedWorld> shared_;
  std::vector<std::thread> threads_;
  std::chrono::nanoseconds grace_;
};

/// Runs `body` on n ranks, each a thread. Returns when all ranks have returned, or at the end of the grace
/// after an abort. A rank fails by returning an error or by throwing; the first failure aborts the world.
///
///     const auto outcome = run_world(4, [](RankContext& rank) { return rank.barrier(); });
///     EXPECT_WORLD_OK(outcome);
///
/// Lifetime: the body is copied; its references must stay valid until the outcome is destroyed.
WorldOutcome run_world(int n, const RankBody& body, WorldOptions options = {});

}  // namespace cohort::test

/// Fails the test with the errors of all ranks if the world failed.
#define EXPECT_WORLD_OK(outcome) EXPECT_TRUE((outcome).ok()) << (outcome).text()
#define ASSERT_WORLD_OK(outcome) ASSERT_TRUE((outcome).ok()) << (outcome).text()
