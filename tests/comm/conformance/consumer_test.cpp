#include "comm/conformance/kind.h"

#include <numeric>
#include <vector>

namespace cohort::test {
namespace {

class Consumers : public Conformance {};

using Floats = std::pmr::vector<float>;

// Counts: small enough to be sent with the call; a few pieces; a last piece that is not whole.
constexpr std::size_t kCounts[] = {0, 3, 4'096, 20'011};

Floats numbers_of(const Seat& seat, std::size_t count) {
  Floats numbers(count, seat.memory);
  std::iota(numbers.begin(), numbers.end(), static_cast<float>(seat.index()));
  return numbers;
}

Status compare(Seat& seat, std::size_t count) {
  const auto world = static_cast<std::size_t>(seat.size());
  const Floats given = numbers_of(seat, count * world);
  Floats expected(count, seat.memory), room(count, seat.memory);
  std::vector<float> taken;
  const Consumer consumer = [&](std::size_t first, ConstNumbers piece) {
    EXPECT_EQ(first, taken.size());
    const auto* values = reinterpret_cast<const float*>(piece.data);
    taken.insert(taken.end(), values, values + piece.count);
  };
  COHORT_RETURN_IF_ERROR(seat->run(reduce_scatter(std::span<const float>(given), std::span(expected))));
  COHORT_RETURN_IF_ERROR(
      seat->run(reduce_scatter(std::span<const float>(given), std::span(room)).handed_to(consumer)));
  if (!std::equal(taken.begin(), taken.end(), expected.begin(), expected.end())) {
    return unexpected(seat, "got {} of {} numbers, or wrong ones", taken.size(), count);
  }
  return {};
}

TEST_P(Consumers, GetTheWholeResult) {
  for (const int world : kWorlds) {
    run(world, [](Seat& seat) -> Status {
      for (const std::size_t count : kCounts) COHORT_RETURN_IF_ERROR(compare(seat, count));
      return {};
    });
  }
}

TEST_P(Consumers, AreRefusedWhereThereIsNoWayToServeThem) {
  run(2, [](Seat& seat) -> Status {
    std::vector<float> numbers(4);
    const std::span<const float> given(numbers);
    const Consumer consumer = [](std::size_t, ConstNumbers) {};
    const Status of_another = seat->run(all_reduce(std::span(numbers)).handed_to(consumer));
    if (of_another || of_another.error().code() != ErrorCode::kUsage)
      return unexpected(seat, "all_reduce accepted a consumer");
    const Status by_itself =
        seat->start(reduce_scatter(given, std::span(numbers).first(2)).handed_to(consumer)).wait();
    if (by_itself || by_itself.error().code() != ErrorCode::kUsage)
      return unexpected(seat, "start() accepted a consumer, which only run() supports");
    return seat->run(barrier());
  });
}

enum class Queue { kEmpty, kBusy };

// The consumer of rank 1 throws. Behind a call that is in flight it may run on another thread.
Status run_failing_consumer(Seat& seat, std::size_t count, Queue queue) {
  const Floats given = numbers_of(seat, count * static_cast<std::size_t>(seat.size()));
  Floats room(count, seat.memory), others(3, seat.memory);
  const Consumer consumer = [&](std::size_t, ConstNumbers) {
    if (seat->rank() == 1) throw Error(ErrorCode::kIo, "the tape is full");
  };
  comm::Work first = comm::Work::finished({});
  if (queue == Queue::kBusy) first = seat->start(all_reduce(std::span(others)));
  const Status outcome =
      seat->run(reduce_scatter(std::span<const float>(given), std::span(room)).handed_to(consumer));
  (void)first.wait();
  if (seat->rank() == 1 && (outcome || outcome.error().code() != ErrorCode::kIo)) {
    return unexpected(seat, "{}", outcome ? "the call succeeded" : outcome.error().text());
  }
  // The other ranks may have had their part of the sum before.
  const Status later = seat->run(barrier());
  if (later) return unexpected(seat, "the group goes on");
  const Error error = outcome ? later.error() : outcome.error();
  if (error.rank() != 1 || error.text().find("the tape is full") == std::string::npos) {
    return unexpected(seat, "{}", error.text());
  }
  return {};
}

TEST_P(Consumers, ThatThrowFailTheGroup) {
  COHORT_NEEDS(Ability::kEndsCalls);
  for (const std::size_t count : {3u, 4'096u, 20'011u}) {
    for (const Queue queue : {Queue::kEmpty, Queue::kBusy}) {
      run(3, [=](Seat& seat) -> Status {
        COHORT_RETURN_IF_ERROR(run_failing_consumer(seat, count, queue));
        return seat.rank.barrier();
      });
    }
  }
}

COHORT_FOR_ALL_KINDS(Consumers);

class Sight : public Conformance {};

TEST_P(Sight, ShowsTheMemoryOfAnotherRankIfItIsShared) {
  for (const int world : kWorlds) {
    run(world, [](Seat& seat) -> Status {
      const int owner = seat.size() - 1;
      Floats numbers(1'000, seat.memory);
      COHORT_ASSIGN_OR_RETURN(std::byte* const seen,
                              seat->see(owner, std::as_writable_bytes(std::span(numbers))));
      if (seen == nullptr) return {};
      auto* theirs = reinterpret_cast<float*>(seen);
      if (seat.index() == 0) theirs[7] = 3.5f;
      COHORT_RETURN_IF_ERROR(seat->run(barrier()));
      if (theirs[7] != 3.5f) return unexpected(seat, "rank {} has {}", owner, theirs[7]);
      if (seat.index() == owner && numbers[7] != 3.5f)
        return unexpected(seat, "the owner sees another address");
      return seat->run(barrier());
    });
  }
}

COHORT_FOR_ALL_KINDS(Sight);

}  // namespace
}  // namespace cohort::test
