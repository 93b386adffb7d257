#include "comm/conformance/kind.h"

#include <thread>
#include <vector>

namespace cohort::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class Failure : public Conformance {};

Status expect_code(const Seat& seat, const Status& outcome, ErrorCode code) {
  if (outcome) return unexpected(seat, "the call succeeded, expected {}", name(code));
  if (outcome.error().code() != code)
    return unexpected(seat, "expected {}, got: {}", name(code), outcome.error().what());
  return {};
}
Status expect_words(const Seat& seat, const Status& outcome, std::initializer_list<std::string> words) {
  if (outcome) return unexpected(seat, "the call succeeded, expected a failure");
  const std::string text = outcome.error().text();
  for (const std::string& word : words) {
    if (text.find(word) == std::string::npos) return unexpected(seat, "no '{}' in: {}", word, text);
  }
  return {};
}

TEST_P(Failure, MistakesAreRefusedAndDoNotStick) {
  for (const int world : kWorlds) {
    run(world, [](Seat& seat) -> Status {
      std::vector<float> numbers(5);
      std::vector<float> others(6);
      const Call mistakes[] = {
          broadcast(std::span(numbers), seat.size()),
          all_reduce(std::span<const float>(numbers), std::span(others)),
          all_reduce(Numbers(numbers.data(), 5, DType::kF32), ReduceOp::kAnd),
          barrier().within(milliseconds(0)),
          send(std::span<const float>(numbers), seat->rank()),
          all_gather(std::span<const float>(numbers), std::span(numbers).subspan(1)),
      };
      for (const Call& mistake : mistakes) {
        COHORT_RETURN_IF_ERROR(expect_code(seat, seat->run(mistake), ErrorCode::kUsage));
        COHORT_RETURN_IF_ERROR(expect_code(seat, seat->start(mistake).wait(), ErrorCode::kUsage));
        if (seat->failure())
          return unexpected(seat, "the failure of one call stays: {}", seat->failure()->text());
        COHORT_RETURN_IF_ERROR(seat->run(barrier()));
      }
      return {};
    });
  }
}

TEST_P(Failure, AMissingRankIsNamed) {
  COHORT_NEEDS(Ability::kNamesAbsent);
  const KindTime time = GetParam().time;
  run(3,
      [&](Seat& seat) -> Status {
        std::vector<float> numbers(1024, 1.0F);
        COHORT_RETURN_IF_ERROR(seat->run(barrier()));
        COHORT_RETURN_IF_ERROR(seat->run(all_reduce(std::span(numbers))));
        if (seat->rank() == 2) {
          COHORT_RETURN_IF_ERROR(seat.rank.barrier());
          // This call comes too late: the group has failed, and this rank was told.
          COHORT_RETURN_IF_ERROR(seat.rank.wait_for([&] { return seat->failure().has_value(); }));
          const Status late = seat->run(all_reduce(std::span(numbers)));
          COHORT_RETURN_IF_ERROR(expect_code(seat, late, ErrorCode::kTimedOut));
          return seat.rank.barrier();
        }
        // Rank 0 reaches its deadline; rank 1, whose deadline is later, is told.
        const bool is_impatient = seat->rank() == 0;
        const auto limit = is_impatient ? milliseconds(60) : milliseconds(15'000);
        const TimePoint begin = steady_clock::now();
        const Status outcome = seat->run(all_reduce(std::span(numbers)).within(limit));
        if (is_impatient && time == KindTime::kReal && steady_clock::now() - begin < limit) {
          return unexpected(seat, "the call ended before its deadline");
        }
        COHORT_RETURN_IF_ERROR(expect_code(seat, outcome, ErrorCode::kTimedOut));
        COHORT_RETURN_IF_ERROR(
            expect_words(seat, outcome,
                         {fmt::format("rank {}", seat->rank()), "all_reduce of 1024 f32 (sum)",
                          "call 3 of group 'world'", "generation 6", "rank 2 has not arrived"}));
        if (is_impatient && outcome.error().remedy().empty())
          return unexpected(seat, "the error has no remedy");
        // Later calls report the first failure.
        const Status later = seat->run(barrier());
        COHORT_RETURN_IF_ERROR(expect_code(seat, later, ErrorCode::kTimedOut));
        COHORT_RETURN_IF_ERROR(expect_words(seat, later, {"rank 2 has not arrived"}));
        if (!seat->failure()) return unexpected(seat, "no failure()");
        COHORT_RETURN_IF_ERROR(seat.rank.barrier());
        return seat.rank.barrier();
      },
      {.generation = 6});
}

TEST_P(Failure, SeveralMissingRanksAreNamed) {
  COHORT_NEEDS(Ability::kNamesAbsent);
  run(5, [](Seat& seat) -> Status {
    if (seat->rank() % 2 == 1) return seat.rank.barrier();
    const Status outcome = seat->run(barrier().within(milliseconds(50)));
    COHORT_RETURN_IF_ERROR(expect_code(seat, outcome, ErrorCode::kTimedOut));
    COHORT_RETURN_IF_ERROR(expect_words(seat, outcome, {"call 1", "ranks 1 and 3 have not arrived"}));
    return seat.rank.barrier();
  });
}

TEST_P(Failure, AMessageThatNeverComesTimesOut) {
  COHORT_NEEDS(Ability::kOutlivesFailure);
  run(2, [](Seat& seat) -> Status {
    std::vector<float> numbers(3);
    if (seat->rank() == 1) return seat.rank.barrier();
    const Status outcome = seat->run(recv(std::span(numbers), 1, 4).within(milliseconds(30)));
    COHORT_RETURN_IF_ERROR(expect_code(seat, outcome, ErrorCode::kTimedOut));
    COHORT_RETURN_IF_ERROR(
        expect_words(seat, outcome, {"receive of 3 f32 from rank 1 (tag 4)", "generation 0"}));
    return seat.rank.barrier();
  });
}

TEST_P(Failure, ADeadlineEndsPendingCalls) {
  COHORT_NEEDS(Ability::kEndsCalls);
  run(2, [](Seat& seat) -> Status {
    std::vector<float> numbers(3);
    std::vector<float> others(3);
    if (seat->rank() == 1) return seat.rank.barrier();
    const comm::Work other = seat->start(recv(std::span(others), 1).within(std::chrono::hours(1)));
    const comm::Work work = seat->start(all_reduce(std::span(numbers)).within(milliseconds(30)));
    // Both end although no thread waits for them.
    COHORT_RETURN_IF_ERROR(seat.rank.wait_for([&] { return work.is_done() && other.is_done(); }));
    COHORT_RETURN_IF_ERROR(expect_code(seat, other.wait(), ErrorCode::kTimedOut));
    COHORT_RETURN_IF_ERROR(expect_code(seat, work.wait(), ErrorCode::kTimedOut));
    return seat.rank.barrier();
  });
}

// Whether every rank needs every other rank: then no rank can finish the call before it is told of the
// failure.
enum class Needs { kAll, kSome };

struct Mismatch {
  const char* what;
  Needs needs;
  std::function<Call(Numbers)> usual;
  std::function<Call(Numbers)> other;
};

// Rank 1 makes another call than the other ranks: all get an error, in this call or the next, that names both
// calls.
TEST_P(Failure, CallsThatDifferAreNamed) {
  COHORT_NEEDS(Ability::kComparesCalls);
  const auto sum = [](Numbers n) { return all_reduce(n); };
  const Mismatch mismatches[] = {
      {"operation", Needs::kAll, sum, [](Numbers n) { return broadcast(n, 0); }},
      {"barrier", Needs::kAll, sum, [](Numbers) { return barrier(); }},
      {"count", Needs::kAll, sum, [](Numbers n) { return all_reduce(n.slice(0, 11)); }},
      {"count of broadcast", Needs::kSome, [](Numbers n) { return broadcast(n, 0); },
       [](Numbers n) { return broadcast(n.slice(0, 2), 0); }},
      {"dtype", Needs::kAll, sum,
       [](Numbers n) { return all_reduce(Numbers(n.data, n.count, DType::kI32)); }},
      {"reduce op", Needs::kAll, sum, [](Numbers n) { return all_reduce(n, ReduceOp::kMax); }},
      {"root", Needs::kSome, [](Numbers n) { return broadcast(n, 0); },
       [](Numbers n) { return broadcast(n, 1); }},
      {"root of reduce", Needs::kSome, [](Numbers n) { return reduce(n.slice(0, 6), n.slice(6, 6), 0); },
       [](Numbers n) { return reduce(n.slice(0, 6), n.slice(6, 6), 1); }},
  };
  for (const Mismatch& mismatch : mismatches) {
    for (const int world : {2, 3, 5}) {
      run(world, [&](Seat& seat) -> Status {
        std::vector<float> numbers(12, 1.0F);
        COHORT_RETURN_IF_ERROR(seat->run(barrier()));
        // A failure also ends earlier calls that are still pending on other ranks, so wait until those are
        // done.
        COHORT_RETURN_IF_ERROR(seat.rank.barrier());
        const Call usual = mismatch.usual(std::span(numbers));
        const Call other = mismatch.other(std::span(numbers));
        Status outcome = seat->run(seat->rank() == 1 ? other : usual);
        if (outcome && mismatch.needs == Needs::kSome) outcome = seat->run(barrier());
        COHORT_RETURN_IF_ERROR(expect_code(seat, outcome, ErrorCode::kUsage).within(mismatch.what));
        COHORT_RETURN_IF_ERROR(
            expect_words(seat, outcome, {usual.text(), other.text(), "call 2"}).within(mismatch.what));
        COHORT_RETURN_IF_ERROR(expect_code(seat, seat->run(barrier()), ErrorCode::kUsage));
        return seat.rank.barrier();
      });
    }
  }
}

// The parts of rank 1 have other lengths, but the same sum.
TEST_P(Failure, CountsOfPartsThatDifferAreNoticed) {
  COHORT_NEEDS(Ability::kComparesCalls);
  run(3, [](Seat& seat) -> Status {
    std::vector<std::size_t> counts = {4, 4, 4};
    if (seat->rank() == 1) counts = {5, 4, 3};
    std::vector<float> whole(12, 1.0F);
    std::vector<float> part(4);
    const Status outcome =
        seat->run(reduce_scatter(std::span<const float>(whole), std::span(part), ReduceOp::kSum, counts));
    COHORT_RETURN_IF_ERROR(expect_code(seat, outcome, ErrorCode::kUsage));
    return seat.rank.barrier();
  });
}

TEST_P(Failure, PartsThatDoNotFitAreNoticed) {
  COHORT_NEEDS(Ability::kComparesCalls);
  run(3, [](Seat& seat) -> Status {
    std::vector<float> part(seat->rank() == 2 ? 4 : 5);
    std::vector<float> whole(15);
    const Status outcome = seat->run(gather(std::span<const float>(part), std::span(whole), 0));
    if (seat->rank() == 0 && outcome) return unexpected(seat, "rank 0 got no error");
    if (!outcome && outcome.error().code() == ErrorCode::kTimedOut)
      return unexpected(seat, "{}", outcome.error().what());
    COHORT_RETURN_IF_ERROR(seat.rank.barrier());
    if (seat->run(barrier())) return unexpected(seat, "a call after the failure succeeded");
    return seat.rank.barrier();
  });
}

TEST_P(Failure, AbortEndsEverythingEverywhere) {
  COHORT_NEEDS(Ability::kEndsCalls);
  for (const int world : {2, 3, 8}) {
    run(world, [](Seat& seat) -> Status {
      std::vector<float> numbers(9);
      std::vector<float> others(9);
      const int last = seat.size() - 1;
      if (seat->rank() == last) {
        // The call of this rank is pending while another thread aborts the group.
        const comm::Work pending = seat->start(recv(std::span(others), 0));
        std::thread([&] { seat->abort(Error(ErrorCode::kAborted, "the loss is not finite")); }).join();
        if (!seat->failure()) return unexpected(seat, "no failure() after abort()");
        const Status outcome = pending.wait();
        COHORT_RETURN_IF_ERROR(expect_code(seat, outcome, ErrorCode::kAborted));
        COHORT_RETURN_IF_ERROR(expect_words(seat, outcome, {"the loss is not finite"}));
        COHORT_RETURN_IF_ERROR(expect_code(seat, seat->run(barrier()), ErrorCode::kAborted));
        return seat.rank.barrier();
      }
      const comm::Work first = seat->start(all_reduce(std::span(numbers)));
      const comm::Work second = seat->start(recv(std::span(others), last));
      for (const comm::Work* work : {&first, &second}) {
        const Status outcome = work->wait();
        COHORT_RETURN_IF_ERROR(expect_code(seat, outcome, ErrorCode::kAborted));
        COHORT_RETURN_IF_ERROR(
            expect_words(seat, outcome, {"the loss is not finite", fmt::format("rank {}", last)}));
      }
      COHORT_RETURN_IF_ERROR(expect_code(seat, seat->run(barrier()), ErrorCode::kAborted));
      return seat.rank.barrier();
    });
  }
}

TEST_P(Failure, OnlyTheFirstFailureCounts) {
  COHORT_NEEDS(Ability::kEndsCalls);
  run(2, [](Seat& seat) -> Status {
    if (seat->rank() == 0) {
      seat->abort(Error(ErrorCode::kAborted, "first"));
      seat->abort(Error(ErrorCode::kAborted, "second"));
    }
    const Status outcome = seat->run(barrier());
    COHORT_RETURN_IF_ERROR(expect_words(seat, outcome, {"first"}));
    if (outcome.error().text().find("second") != std::string::npos)
      return unexpected(seat, "{}", outcome.error().text());
    return seat.rank.barrier();
  });
}

TEST_P(Failure, ARankThatLeavesIsNamed) {
  COHORT_NEEDS(Ability::kNoticesLeaving);
  for (const int world : {2, 3, 5}) {
    run(world, [](Seat& seat) -> Status {
      std::vector<std::int32_t> numbers(7, 1);
      COHORT_RETURN_IF_ERROR(seat->run(all_reduce(std::span(numbers))));
      // A failure ends pending calls, so the first call must be over on all ranks.
      COHORT_RETURN_IF_ERROR(seat.rank.barrier());
      if (seat->rank() == 1) {
        seat.communicator.reset();
        return seat.rank.barrier();
      }
      const Status outcome = seat->run(all_reduce(std::span(numbers)));
      COHORT_RETURN_IF_ERROR(expect_code(seat, outcome, ErrorCode::kPeerLost));
      COHORT_RETURN_IF_ERROR(expect_words(seat, outcome, {"rank 1", "call 2", "all_reduce of 7 i32"}));
      COHORT_RETURN_IF_ERROR(expect_code(seat, seat->run(barrier()), ErrorCode::kPeerLost));
      return seat.rank.barrier();
    });
  }
}

// A rank may leave when its call is done: the others still get its data.
TEST_P(Failure, LeavingAfterTheLastCallHarmsNobody) {
  for (int round = 0; round < 10; ++round) {
    for (const int world : {2, 3, 8}) {
      run(world, [&](Seat& seat) -> Status {
        std::vector<std::int32_t> numbers(static_cast<std::size_t>(1 + round * 501), 1);
        COHORT_RETURN_IF_ERROR(seat->run(all_reduce(std::span(numbers))));
        COHORT_RETURN_IF_ERROR(seat->run(broadcast(std::span(numbers), round % seat.size())));
        seat.communicator.reset();
        return {};
      });
    }
  }
}

TEST_P(Failure, TheDestructorEndsPendingCalls) {
  COHORT_NEEDS(Ability::kEndsCalls);
  run(2, [](Seat& seat) -> Status {
    std::vector<float> numbers(3);
    std::vector<float> others(3);
    if (seat->rank() == 0) {
      const comm::Work work = seat->start(recv(std::span(numbers), 1));
      const comm::Work second = seat->start(all_reduce(std::span(others)));
      seat.communicator.reset();
      if (!work.is_done() || !second.is_done()) return unexpected(seat, "still pending");
      COHORT_RETURN_IF_ERROR(expect_code(seat, work.wait(), ErrorCode::kAborted));
      COHORT_RETURN_IF_ERROR(expect_code(seat, second.wait(), ErrorCode::kAborted));
    }
    return seat.rank.barrier();
  });
}

// Rank 1 is rank 1 of the group, and rank 3 its rank 0.
TEST_P(Failure, RanksOfAPartAreNamedByTheirGlobalRanks) {
  COHORT_NEEDS(Ability::kNamesAbsent);
  run(4, [](Seat& seat) -> Status {
    COHORT_ASSIGN_OR_RETURN(const auto part, seat->split(seat->rank() % 2, -seat->rank(), "part"));
    if (seat->rank() < 2) return seat.rank.barrier();
    std::vector<float> numbers(7);
    const Status outcome = part->run(broadcast(std::span(numbers), 1).within(milliseconds(50)));
    const int absent = seat->rank() - 2;
    COHORT_RETURN_IF_ERROR(
        expect_words(seat, outcome,
                     {fmt::format("rank {}: broadcast of 7 f32 from rank {}", seat->rank(), absent),
                      fmt::format("rank {} has not arrived", absent)}));
    if (outcome.error().rank() != absent) return unexpected(seat, "{}", outcome.error().text());
    return seat.rank.barrier();
  });
}

TEST_P(Failure, CallsOfAPartThatDifferAreNamedByTheirGlobalRanks) {
  COHORT_NEEDS(Ability::kComparesCalls);
  run(4, [](Seat& seat) -> Status {
    COHORT_ASSIGN_OR_RETURN(const auto part, seat->split(seat->rank() / 2, 0, "part"));
    std::vector<float> numbers(7);
    Status outcome = part->run(broadcast(std::span(numbers), seat->rank() % 2));
    if (outcome) outcome = part->run(barrier());  // a root may have sent its numbers before it compares
    const int other = seat->rank() ^ 1;
    const std::string theirs = fmt::format("broadcast of 7 f32 from rank {}", other);
    COHORT_RETURN_IF_ERROR(expect_words(seat, outcome, {theirs}));
    return seat.rank.barrier();
  });
}

TEST_P(Failure, AnAbortKeepsTheRankOfItsCause) {
  COHORT_NEEDS(Ability::kOutlivesFailure);
  run(3, [](Seat& seat) -> Status {
    if (seat->rank() == 0) seat->abort(Error(ErrorCode::kPeerLost, "rank 2 has ended").with_rank(2));
    const Status outcome = seat->run(barrier());
    COHORT_RETURN_IF_ERROR(expect_words(seat, outcome, {"rank 2 has ended"}));
    if (outcome.error().rank() != 2) return unexpected(seat, "{}", outcome.error().text());
    return seat.rank.barrier();
  });
}

TEST_P(Failure, AffectsOneGroupOnly) {
  COHORT_NEEDS(Ability::kEndsCalls);
  run(4, [](Seat& seat) -> Status {
    COHORT_ASSIGN_OR_RETURN(const auto pair, seat->split(seat->rank() / 2, 0, "pair"));
    if (seat->rank() == 0) pair->abort(Error(ErrorCode::kAborted, "enough"));
    const Status outcome = pair->run(barrier());
    if (seat->rank() < 2)
      COHORT_RETURN_IF_ERROR(expect_code(seat, outcome, ErrorCode::kAborted));
    else
      COHORT_RETURN_IF_ERROR(outcome);
    COHORT_RETURN_IF_ERROR(seat->run(barrier()));
    if (seat->failure()) return unexpected(seat, "{}", seat->failure()->text());
    return seat->run(barrier());
  });
}

COHORT_FOR_ALL_KINDS(Failure);

}  // namespace
}  // namespace cohort::test
