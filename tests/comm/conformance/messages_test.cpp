#include "comm/conformance/kind.h"
#include "comm/conformance/values.h"

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
      const int next = (seat->rank() + 1) % seat.world();
      const int previous = (seat->rank() + seat.world() - 1) % seat.world();
      for (const std::size_t count :
           {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{1009}, std::size_t{70'001}}) {
        const std::vector<std::int64_t> mine = numbered(seat->rank(), count);
        std::vector<std::int64_t> theirs(count);
        const Work sent = seat->start(send(std::span(mine), next));
        COHORT_RETURN_IF_ERROR(seat->run(receive(std::span(theirs), previous)));
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
          seat->run(seat->rank() == 0 ? send(numbers.numbers(), 1) : receive(numbers.numbers(), 0)));
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
    std::vector<Work> works;
    if (seat->rank() == 0) {
      for (std::uint32_t tag = 0; tag < kTags; ++tag) {
        works.push_back(seat->start(send(std::span<const std::int32_t>(numbers[tag]), 2, tag)));
      }
    } else {
      for (std::vector<std::int32_t>& one : numbers) std::fill(one.begin(), one.end(), -1);
      for (std::uint32_t tag = kTags; tag-- > 0;) {
        works.push_back(seat->start(receive(std::span(numbers[tag]), 0, tag)));
      }
    }
    for (const Work& work : works) COHORT_RETURN_IF_ERROR(work.wait());
    for (std::uint32_t tag = 0; tag < kTags; ++tag) {
      if (numbers[tag] != std::vector<std::int32_t>(tag + 1, static_cast<std::int32_t>(tag))) {
        return unexpected(seat, "tag {} came out wrong", tag);
      }
    }
    return {};
  });
}

TEST_P(Messages, OfOneTagStayInOrder) {
  run(2, [](Seat& seat) -> Status {
    constexpr int kMessages = 200;
    std::vector<std::int32_t> numbers(kMessages, -1);
    std::vector<Work> works;
    for (int i = 0; i < kMessages; ++i) {
      const std::span<std::int32_t> one(&numbers[static_cast<std::size_t>(i)], 1);
      if (seat->rank() == 0) one[0] = i;
      works.push_back(seat->start(seat->rank() == 0 ? send(Numbers(one), 1, 7) : receive(one, 0, 7)));
    }
    for (const Work& work : works) COHORT_RETURN_IF_ERROR(work.wait());
    for (int i = 0; i < kMessages; ++i) {
      if (numbers[static_cast<std::size_t>(i)] != i)
        return unexpected(seat, "message {} came out of order", i);
    }
    return {};
  });
}

TEST_P(Messages, GoOnBesideCollectives) {
  run(4, [](Seat& seat) -> Status {
    const int partner = seat->rank() ^ 1;
    std::vector<std::int64_t> mine = numbered(seat->rank(), 53);
    std::vector<std::int64_t> theirs(53);
    const Work received = seat->start(receive(std::span(theirs), partner, 3));
    std::vector<std::int64_t> sum(5, 1);
    COHORT_RETURN_IF_ERROR(seat->run(all_reduce(std::span(sum))));
    COHORT_RETURN_IF_ERROR(seat->run(send(std::span<const std::int64_t>(mine), partner, 3)));
    COHORT_RETURN_IF_ERROR(received.wait());
    if (theirs != numbered(partner, 53) || sum != std::vector<std::int64_t>(5, 4))
      return unexpected(seat, "wrong");
    return {};
  });
}

TEST_P(Messages, OfAnotherLengthOrTypeAreNamed) {
  COHORT_NEEDS(Ability::kOutlivesFailure);
  for (const bool other_type : {false, true}) {
    run(2, [&](Seat& seat) -> Status {
      std::vector<float> five(5);
      std::vector<std::int32_t> six(6);
      Status outcome;
      if (seat->rank() == 0) {
        outcome = seat->run(send(std::span<const float>(five), 1));
        if (outcome) return seat.rank.barrier();  // it was sent before anybody could know
      } else {
        outcome = other_type ? seat->run(receive(Numbers(six.data(), 5, DType::kI32), 0))
                             : seat->run(receive(Numbers(six.data(), 6, DType::kF32), 0));
        if (outcome) return unexpected(seat, "nobody noticed");
        const std::string text = outcome.error().text();
        if (text.find("5 f32") == std::string::npos ||
            text.find(other_type ? "5 i32" : "6 f32") == std::string::npos) {
          return unexpected(seat, "not both are named: {}", text);
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
