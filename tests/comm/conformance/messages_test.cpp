#include "comm/conformance/kind.h"
#include "comm/conformance/values.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace cohort::test {
namespace {

class Messages : public Conformance {};

std::vector<std::int64_t> numbered(int sender, std::size_t count) {
  std::vector<std::int64_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = value_of(sender, i) + sender * 100;
  return numbers;
}

TEST_P(Messages, GoRoundARing) {
  for (const int world : {2, 3, 4, 5, 8}) {
    run(world, [](Seat& seat) -> Status {
      const int next = (seat->rank() + 1) % seat.size();
      const int previous = (seat->rank() + seat.size() - 1) % seat.size();
      for (const std::size_t count :
           {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{1009}, std::size_t{70'001}}) {
        const std::vector<std::int64_t> mine = numbered(seat->rank(), count);
        std::vector<std::int64_t> theirs(count);
        const comm::Work sent = seat->start(send(std::span(mine), next));
        COHORT_RETURN_IF_ERROR(seat->run(recv(std::span(theirs), previous)));
        COHORT_RETURN_IF_ERROR(sent.wait());
        if (theirs != numbered(previous, count)) return unexpected(seat, "{} numbers came out wrong", count);
      }
      return {};
    });
  }
}

TEST_P(Messages, EveryTypeArrives) {
  run(2, [](Seat& seat) -> Status {
    for (const DType dtype : kAllDTypes) {
      Guarded numbers(19, dtype, seat.memory);
      numbers.fill([&](std::size_t i) { return seat->rank() == 0 ? value_of(0, i) % 2 : 0; });
      COHORT_RETURN_IF_ERROR(
          seat->run(seat->rank() == 0 ? send(numbers.numbers(), 1) : recv(numbers.numbers(), 0)));
      const bool is_right = numbers.holds([](std::size_t i) { return value_of(0, i) % 2; });
      if (!is_right || !numbers.margins_are_intact())
        return unexpected(seat, "{} came out wrong", name(dtype));
    }
    return {};
  });
}

TEST_P(Messages, TagsMeetInAnyOrder) {
  run(3, [](Seat& seat) -> Status {
    constexpr std::uint32_t kTags = 9;
    if (seat->rank() == 1) return {};
    std::vector<std::vector<std::int32_t>> numbers;
    for (std::uint32_t tag = 0; tag < kTags; ++tag)
      numbers.emplace_back(tag + 1, static_cast<std::int32_t>(tag));
    std::vector<comm::Work> works;
    if (seat->rank() == 0) {
      for (std::uint32_t tag = 0; tag < kTags; ++tag) {
        works.push_back(seat->start(send(std::span<const std::int32_t>(numbers[tag]), 2, tag)));
      }
    } else {
      for (std::vector<std::int32_t>& one : numbers) std::fill(one.begin(), one.end(), -1);
      for (std::uint32_t tag = kTags; tag-- > 0;) {
        works.push_back(seat->start(recv(std::span(numbers[tag]), 0, tag)));
      }
    }
    for (const comm::Work& work : works) COHORT_RETURN_IF_ERROR(work.wait());
    for (std::uint32_t tag = 0; tag < kTags; ++tag) {
      if (numbers[tag] != std::vector<std::int32_t>(tag + 1, static_cast<std::int32_t>(tag))) {
        return unexpected(seat, "tag {} came out wrong", tag);
      }
    }
    return {};
  });
}

TEST_P(Messages, OneTagStaysInOrder) {
  run(2, [](Seat& seat) -> Status {
    constexpr int kMessages = 200;
    std::vector<std::int32_t> numbers(kMessages, -1);
    std::vector<comm::Work> works;
    for (int i = 0; i < kMessages; ++i) {
      const std::span<std::int32_t> one(&numbers[static_cast<std::size_t>(i)], 1);
      if (seat->rank() == 0) one[0] = i;
      works.push_back(seat->start(seat->rank() == 0 ? send(Numbers(one), 1, 7) : recv(one, 0, 7)));
    }
    for (const comm::Work& work : works) COHORT_RETURN_IF_ERROR(work.wait());
    for (int i = 0; i < kMessages; ++i) {
      if (numbers[static_cast<std::size_t>(i)] != i)
        return unexpected(seat, "message {} came out of order", i);
    }
    return {};
  });
}

// Long messages are not buffered at the receiver.
TEST_P(Messages, LongSendsWaitForTheirReceive) {
  run(2, [](Seat& seat) -> Status {
    constexpr std::size_t kCount = 100'000;
    const std::int32_t word = 1;
    std::int32_t answer = 0;
    std::vector<std::int64_t> numbers = numbered(seat->rank(), kCount);
    if (seat->rank() == 0) {
      const comm::Work sent = seat->start(send(std::span<const std::int64_t>(numbers), 1, 2));
      COHORT_RETURN_IF_ERROR(seat->run(send(std::span(&word, 1), 1, 3)));
      COHORT_RETURN_IF_ERROR(seat->run(recv(std::span(&answer, 1), 1, 3)));
      if (sent.is_done()) return unexpected(seat, "a long send is done before its receive has started");
      COHORT_RETURN_IF_ERROR(seat->run(send(std::span(&word, 1), 1, 3)));
      return sent.wait();
    }
    COHORT_RETURN_IF_ERROR(seat->run(recv(std::span(&answer, 1), 0, 3)));
    COHORT_RETURN_IF_ERROR(seat->run(send(std::span(&word, 1), 0, 3)));
    COHORT_RETURN_IF_ERROR(seat->run(recv(std::span(&answer, 1), 0, 3)));
    COHORT_RETURN_IF_ERROR(seat->run(recv(std::span(numbers), 0, 2)));
    return numbers == numbered(0, kCount) ? Status() : unexpected(seat, "the received numbers are wrong");
  });
}

TEST_P(Messages, MayBeShorterThanTheBuffer) {
  run(2, [](Seat& seat) -> Status {
    for (const std::size_t count : {std::size_t{0}, std::size_t{3}, std::size_t{70'001}}) {
      std::vector<std::int64_t> numbers = numbered(seat->rank(), count + 5);
      if (seat->rank() == 0) {
        COHORT_RETURN_IF_ERROR(seat->run(send(std::span<const std::int64_t>(numbers).first(count), 1)));
        continue;
      }
      COHORT_RETURN_IF_ERROR(seat->run(recv(std::span(numbers), 0).or_fewer()));
      std::vector<std::int64_t> expected = numbered(1, count + 5);
      const std::vector<std::int64_t> sent = numbered(0, count);
      std::copy(sent.begin(), sent.end(), expected.begin());
      if (numbers != expected) return unexpected(seat, "{} numbers came out wrong", count);
    }
    return {};
  });
}

// Rank 0 receives from any rank: messages of one rank stay in order, also relative to receives from that rank
// before and afterwards.
TEST_P(Messages, CanBeReceivedFromAnyRank) {
  run(4, [](Seat& seat) -> Status {
    constexpr std::int32_t kEach = 20;
    if (seat->rank() != 0) {
      for (std::int32_t i = 0; i < kEach; ++i) {
        const std::int32_t number = seat->rank() * 100 + i;
        COHORT_RETURN_IF_ERROR(seat->run(send(std::span(&number, 1), 0, 5)));
      }
      return seat->run(barrier());
    }
    std::vector<std::int32_t> next(4, 0);
    const auto check = [&](int from, std::int32_t number) -> Status {
      if (number == from * 100 + next[static_cast<std::size_t>(from)]++) return {};
      return unexpected(seat, "{} came from rank {}", number, from);
    };
    std::int32_t number = -1;
    COHORT_RETURN_IF_ERROR(seat->run(recv(std::span(&number, 1), 2, 5)));
    COHORT_RETURN_IF_ERROR(check(2, number));
    for (std::int32_t i = 0; i < 3 * kEach - 3; ++i) {
      int source = -1;
      COHORT_RETURN_IF_ERROR(seat->run(recv_any(std::span(&number, 1), source, 5)));
      if (source < 1 || source > 3) return unexpected(seat, "the source is {}", source);
      COHORT_RETURN_IF_ERROR(check(source, number));
    }
    for (int from = 1; from < 4; ++from) {
      while (next[static_cast<std::size_t>(from)] < kEach) {
        COHORT_RETURN_IF_ERROR(seat->run(recv(std::span(&number, 1), from, 5)));
        COHORT_RETURN_IF_ERROR(check(from, number));
      }
    }
    return seat->run(barrier());
  });
}

TEST_P(Messages, ReceivesFromAnyRankMatchInOrder) {
  run(3, [](Seat& seat) -> Status {
    const std::int32_t go = 1;
    if (seat->rank() == 0) {
      std::int32_t first = -1, second = -1, third = -1;
      int source = -1;
      const comm::Work any = seat->start(recv_any(std::span(&first, 1), source, 9));
      const comm::Work of_two = seat->start(recv(std::span(&second, 1), 2, 9));
      const comm::Work of_one = seat->start(recv(std::span(&third, 1), 1, 9));
      COHORT_RETURN_IF_ERROR(any.wait());
      COHORT_RETURN_IF_ERROR(of_two.wait());
      COHORT_RETURN_IF_ERROR(seat->run(send(std::span(&go, 1), 1)));
      COHORT_RETURN_IF_ERROR(of_one.wait());
      if (source != 2 || first != 20 || second != 21 || third != 10) {
        return unexpected(seat, "{} of rank {}, {} and {}", first, source, second, third);
      }
      return seat->run(barrier());
    }
    if (seat->rank() == 1) {
      std::int32_t gone = 0;
      COHORT_RETURN_IF_ERROR(seat->run(recv(std::span(&gone, 1), 0)));
    }
    for (const std::int32_t number : seat->rank() == 1 ? std::vector{10} : std::vector{20, 21}) {
      COHORT_RETURN_IF_ERROR(seat->run(send(std::span(&number, 1), 0, 9)));
    }
    return seat->run(barrier());
  });
}

TEST_P(Messages, GoOnBesideCollectives) {
  run(4, [](Seat& seat) -> Status {
    const int partner = seat->rank() ^ 1;
    std::vector<std::int64_t> mine = numbered(seat->rank(), 53);
    std::vector<std::int64_t> theirs(53);
    const comm::Work received = seat->start(recv(std::span(theirs), partner, 3));
    std::vector<std::int64_t> sum(5, 1);
    COHORT_RETURN_IF_ERROR(seat->run(all_reduce(std::span(sum))));
    COHORT_RETURN_IF_ERROR(seat->run(send(std::span<const std::int64_t>(mine), partner, 3)));
    COHORT_RETURN_IF_ERROR(received.wait());
    if (theirs != numbered(partner, 53) || sum != std::vector<std::int64_t>(5, 4))
      return unexpected(seat, "the received numbers are wrong");
    return {};
  });
}

TEST_P(Messages, AnotherLengthOrTypeIsAnError) {
  COHORT_NEEDS(Ability::kOutlivesFailure);
  for (const bool other_type : {false, true}) {
    run(2, [&](Seat& seat) -> Status {
      std::vector<float> five(5);
      std::vector<std::int32_t> six(6);
      Status outcome;
      if (seat->rank() == 0) {
        outcome = seat->run(send(std::span<const float>(five), 1));
        if (outcome) return seat.rank.barrier();  // the message was sent before the failure was known
      } else {
        outcome = other_type ? seat->run(recv(Numbers(six.data(), 5, DType::kI32), 0))
                             : seat->run(recv(Numbers(six.data(), 6, DType::kF32), 0));
        if (outcome) return unexpected(seat, "the call succeeded, expected an error");
        const std::string text = outcome.error().text();
        if (text.find("5 f32") == std::string::npos ||
            text.find(other_type ? "5 i32" : "6 f32") == std::string::npos) {
          return unexpected(seat, "expected both calls in: {}", text);
        }
      }
      if (outcome.error().code() != ErrorCode::kUsage) return unexpected(seat, "{}", outcome.error().what());
      return seat.rank.barrier();
    });
  }
}

COHORT_FOR_ALL_KINDS(Messages);

}  // namespace
}  // namespace cohort::test
