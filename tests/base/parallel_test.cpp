#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <cohort/error.h>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>

namespace cohort {
namespace {

struct Piece {
  std::size_t first, last;
};

std::vector<Piece> pieces_of(const Parallel& parallel, std::size_t count, std::size_t grain) {
  std::mutex mutex;
  std::vector<Piece> pieces;
  parallel.run(count, grain, [&](std::size_t first, std::size_t last) {
    const std::lock_guard lock(mutex);
    pieces.push_back({first, last});
  });
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.first < b.first; });
  return pieces;
}

// 0 threads stand for SerialLoop.
std::unique_ptr<Parallel> loop_of(int num_threads) {
  if (num_threads == 0) return std::make_unique<SerialLoop>();
  return std::make_unique<ThreadedLoop>(num_threads);
}

TEST(Parallel, RunsEveryIterationOnceInPiecesOfTheGrain) {
  for (const int threads : {0, 1, 2, 3, 5}) {
    const auto loop = loop_of(threads);
    for (const std::size_t count : {0ul, 1ul, 7ul, 8ul, 9ul, 100ul, 1031ul}) {
      for (const std::size_t grain : {1ul, 8ul, 1000ul}) {
        std::size_t end = 0;
        for (const Piece& piece : pieces_of(*loop, count, grain)) {
          EXPECT_EQ(piece.first, end);
          EXPECT_LT(piece.first, piece.last);
          EXPECT_TRUE(piece.last == count || (piece.last - piece.first) % grain == 0) << piece.last;
          end = piece.last;
        }
        EXPECT_EQ(end, count);
      }
    }
  }
}

TEST(Parallel, RethrowsAndRunsTheNextLoop) {
  for (const int threads : {0, 1, 3}) {
    const auto loop = loop_of(threads);
    for (int round = 0; round < 20; ++round) {
      const auto body = [](std::size_t first, std::size_t last) {
        if (first <= 50 && 50 < last) throw std::runtime_error("iteration 50");
      };
      EXPECT_THROW(loop->run(100, 1, body), std::runtime_error);
      EXPECT_EQ(pieces_of(*loop, 100, 1).back().last, 100u);
    }
  }
}

TEST(ThreadedLoop, UsesItsThreads) {
  const ThreadedLoop loop(2);
  // Each piece waits until the other has begun: a single thread would time out.
  std::mutex mutex;
  std::condition_variable came;
  int present = 0;
  loop.run(2, 1, [&](std::size_t, std::size_t) {
    std::unique_lock lock(mutex);
    ++present;
    came.notify_all();
    EXPECT_TRUE(came.wait_for(lock, std::chrono::seconds(30), [&] { return present == 2; }));
  });
  EXPECT_EQ(present, 2);
}

// A loop of two pieces: the worker leaves its piece only after the caller has left its own.
struct CallerLeavesFirst {
  std::mutex mutex;
  std::condition_variable changed;
  const std::thread::id caller = std::this_thread::get_id();
  int num_entered = 0;
  bool caller_left = false;
  std::atomic<int> num_left = 0;

  bool is_caller() const { return std::this_thread::get_id() == caller; }

  void run_piece() {
    std::unique_lock lock(mutex);
    ++num_entered;
    changed.notify_all();
    const auto may_leave = [&] { return num_entered == 2 && (is_caller() || caller_left); };
    EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(30), may_leave));
    caller_left = true;
    changed.notify_all();
    lock.unlock();
    ++num_left;
  }
};

TEST(ThreadedLoop, ReturnsAfterItsWorkersHaveLeft) {
  const ThreadedLoop loop(2);
  for (int round = 0; round < 50; ++round) {
    CallerLeavesFirst pieces;
    loop.run(2, 1, [&](std::size_t, std::size_t) { pieces.run_piece(); });
    ASSERT_EQ(pieces.num_left, 2);
  }
}

TEST(ThreadedLoop, RethrowsAfterItsWorkersHaveLeft) {
  const ThreadedLoop loop(2);
  for (int round = 0; round < 50; ++round) {
    CallerLeavesFirst pieces;
    const auto body = [&](std::size_t, std::size_t) {
      pieces.run_piece();
      if (pieces.is_caller()) throw std::runtime_error("the piece of the caller");
    };
    EXPECT_THROW(loop.run(2, 1, body), std::runtime_error);
    ASSERT_EQ(pieces.num_left, 2);
  }
}

TEST(ThreadedLoop, ServesSeveralCallers) {
  const ThreadedLoop loop(3);
  std::atomic<std::size_t> iterations = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        loop.run(10, 1, [&](std::size_t first, std::size_t last) { iterations += last - first; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(iterations, 3000u);
}

TEST(ThreadedLoop, RefusesNoThreads) {
  EXPECT_THROW(ThreadedLoop(0), BugError);
}

}  // namespace
}  // namespace cohort
