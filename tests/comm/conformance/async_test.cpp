#include "comm/conformance/kind.h"

#include <atomic>
#include <thread>
#include <vector>

namespace cohort::test {
namespace {

using std::chrono::milliseconds;

class Async : public Conformance {};

TEST_P(Async, StartGoesOnByItself) {
  for (const int world : kWorlds) {
    run(world, [](Seat& seat) -> Status {
      std::vector<std::int32_t> numbers(1009, seat->rank() + 1);
      const comm::Work work = seat->start(all_reduce(std::span(numbers)));
      COHORT_RETURN_IF_ERROR(seat.rank.wait_for([&] { return work.is_done(); }));
      COHORT_RETURN_IF_ERROR(work.wait());
      const std::int32_t expected = seat.size() * (seat.size() + 1) / 2;
      if (numbers != std::vector<std::int32_t>(1009, expected)) return unexpected(seat, "the sum is wrong");
      return {};
    });
  }
}

TEST_P(Async, ManyAreUnderWayAtTheSameTime) {
  for (const int world : {1, 3, 8}) {
    run(world, [](Seat& seat) -> Status {
      constexpr int kCalls = 40;
      std::vector<std::vector<std::int64_t>> numbers;
      for (int i = 0; i < kCalls; ++i) numbers.emplace_back(static_cast<std::size_t>(i), seat->rank() + i);
      std::vector<comm::Work> works;
      for (int i = 0; i < kCalls; ++i) {
        auto& one = numbers[static_cast<std::size_t>(i)];
        works.push_back(seat->start(i % 3 == 0 ? broadcast(std::span(one), i % seat.size())
                                               : all_reduce(std::span(one), ReduceOp::kMax)));
      }
      for (int i = kCalls; i-- > 0;) COHORT_RETURN_IF_ERROR(works[static_cast<std::size_t>(i)].wait());
      for (int i = 0; i < kCalls; ++i) {
        const int expected = i + (i % 3 == 0 ? i % seat.size() : seat.size() - 1);
        const std::vector<std::int64_t> right(static_cast<std::size_t>(i), expected);
        if (numbers[static_cast<std::size_t>(i)] != right) return unexpected(seat, "call {} is wrong", i);
      }
      return {};
    });
  }
}

TEST_P(Async, RunAndStartMix) {
  run(3, [](Seat& seat) -> Status {
    std::vector<std::int32_t> slow(70'001, seat->rank());
    std::vector<std::int32_t> quick(3, seat->rank());
    for (int round = 0; round < 5; ++round) {
      const comm::Work work = seat->start(broadcast(std::span(slow), round % 3));
      COHORT_RETURN_IF_ERROR(seat->run(all_reduce(std::span(quick), ReduceOp::kMax)));
      COHORT_RETURN_IF_ERROR(work.wait());
      if (quick[2] != 2 || slow.back() != 0)
        return unexpected(seat, "round {}: {} {}", round, quick[2], slow.back());
    }
    return {};
  });
}

TEST_P(Async, CallbacksAreCalledOnce) {
  run(3, [](Seat& seat) -> Status {
    std::atomic<int> num_called = 0;
    std::vector<float> numbers(11, 1.0F);
    const comm::Work work = seat->start(all_reduce(std::span(numbers)));
    work.then([&](const Status& outcome) { num_called += outcome ? 1 : 100; });
    COHORT_RETURN_IF_ERROR(seat.rank.wait_for([&] { return num_called == 1; }));
    work.then([&](const Status& outcome) { num_called += outcome ? 1 : 100; });
    if (num_called != 2) return unexpected(seat, "{} calls", num_called.load());
    return {};
  });
}

TEST_P(Async, ACallbackMayStartTheNextCall) {
  run(2, [](Seat& seat) -> Status {
    std::vector<std::int32_t> first(5, 1);
    std::vector<std::int32_t> second(7, 1);
    std::optional<comm::Work> next;
    const comm::Work work = seat->start(all_reduce(std::span(first)));
    work.then([&](const Status&) {
      const comm::Work started = seat->start(all_reduce(std::span(second)));
      seat.rank.change([&] { next = started; });
    });
    COHORT_RETURN_IF_ERROR(seat.rank.wait_for([&] { return next.has_value(); }));
    COHORT_RETURN_IF_ERROR(next->wait());
    if (second != std::vector<std::int32_t>(7, 2)) return unexpected(seat, "the second sum is wrong");
    return {};
  });
}

TEST_P(Async, WaitUntilGivesUpWhileTheCallGoesOn) {
  run(2, [](Seat& seat) -> Status {
    std::vector<std::int32_t> numbers(5, 1);
    if (seat->rank() == 0) {
      const comm::Work work = seat->start(all_reduce(std::span(numbers)));
      const Status early = work.wait_until(std::chrono::steady_clock::now() + milliseconds(20));
      if (early || early.error().code() != ErrorCode::kTimedOut)
        return unexpected(seat, "the call is done before the other ranks made it");
      if (work.is_done()) return unexpected(seat, "is_done() is true before the call is done");
      COHORT_RETURN_IF_ERROR(seat.rank.barrier());
      COHORT_RETURN_IF_ERROR(work.wait());
    } else {
      COHORT_RETURN_IF_ERROR(seat.rank.barrier());
      COHORT_RETURN_IF_ERROR(seat->run(all_reduce(std::span(numbers))));
    }
    if (numbers[4] != 2) return unexpected(seat, "the sum is {}", numbers[4]);
    return {};
  });
}

TEST_P(Async, WorkMayBeLetGo) {
  // The numbers outlive the communicators, because the test does not wait for the call.
  std::vector<std::vector<std::int32_t>> numbers(3, std::vector<std::int32_t>(1009, 1));
  run(3, [&](Seat& seat) -> Status {
    auto& mine = numbers[static_cast<std::size_t>(seat->rank())];
    { (void)seat->start(all_reduce(std::span(mine))); }
    COHORT_RETURN_IF_ERROR(seat->run(barrier()));
    return seat.rank.barrier();
  });
}

COHORT_FOR_ALL_KINDS(Async);

}  // namespace
}  // namespace cohort::test
