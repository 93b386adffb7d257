#include "comm/conformance/trial.h"

#include "base/float16.h"
#include "comm/numbers/combine.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace cohort::test {
namespace {

constexpr Operation kCollectives[] = {Operation::kBarrier,   Operation::kAllReduce,     Operation::kReduce,
                                      Operation::kBroadcast, Operation::kReduceScatter, Operation::kAllGather,
                                      Operation::kGather,    Operation::kScatter,       Operation::kAllToAll};

bool combines(Operation operation) {
  return operation == Operation::kAllReduce || operation == Operation::kReduce ||
         operation == Operation::kReduceScatter;
}
bool has_root(Operation operation) {
  return operation == Operation::kReduce || operation == Operation::kBroadcast ||
         operation == Operation::kGather || operation == Operation::kScatter;
}
bool has_parts(Operation operation) {
  return operation == Operation::kReduceScatter || operation == Operation::kAllGather ||
         operation == Operation::kGather || operation == Operation::kScatter ||
         operation == Operation::kAllToAll;
}
bool can_be_in_place(Operation operation) {
  return operation != Operation::kAllToAll && operation != Operation::kBroadcast &&
         operation != Operation::kBarrier;
}

// Too long to be sent with the call itself, for every type.
constexpr std::size_t kLong = 4'203;

Status run_all(Seat& seat, const std::vector<Trial>& trials) {
  for (const Trial& trial : trials) COHORT_RETURN_IF_ERROR(run_trial(seat, trial));
  return {};
}

class Collectives : public Conformance {
 protected:
  void run_in_all_worlds(const std::function<std::vector<Trial>(int world)>& trials) {
    for (const int world : kWorlds) {
      run(world, [&](Seat& seat) { return run_all(seat, trials(seat.size())); });
    }
  }
};

TEST_P(Collectives, AnyCountGivesTheRightResult) {
  run_in_all_worlds([](int world) {
    const auto n = static_cast<std::size_t>(world);
    std::vector<Trial> trials;
    for (const Operation operation : kCollectives) {
      for (const std::size_t count :
           {std::size_t{0}, std::size_t{1}, n - 1, n, n + 1, std::size_t{97}, std::size_t{1009}}) {
        trials.push_back({.operation = operation, .count = count, .root = world - 1});
      }
    }
    return trials;
  });
}

// Kinds differ in how numbers are transferred. The tests of combine() try every pair of type and reduction.
bool is_worth_a_world(ReduceOp op, DType dtype) {
  const bool is_of_bits = op == ReduceOp::kAnd || op == ReduceOp::kOr || op == ReduceOp::kXor;
  if (dtype == DType::kI8 || dtype == DType::kI16) return op == ReduceOp::kSum;
  if (is_of_bits) return dtype == DType::kU8;
  return comm::is_combinable(op, dtype);
}

bool is_tried(DType dtype, Types types) {
  return types == Types::kAll || dtype == DType::kF32 || dtype == DType::kBF16 || dtype == DType::kI64 ||
         dtype == DType::kU8;
}

TEST_P(Collectives, AnyTypeAndReductionGivesTheRightResult) {
  run_in_all_worlds([types = GetParam().types](int world) {
    std::vector<Trial> trials;
    for (const Operation operation : kCollectives) {
      for (const DType dtype : kCombinable) {
        for (const ReduceOp op : kAllReduceOps) {
          if (op != ReduceOp::kSum && !combines(operation)) continue;
          if (!is_worth_a_world(op, dtype) || !is_tried(dtype, types)) continue;
          for (const std::size_t count : {std::size_t{37}, kLong}) {
            trials.push_back(
                {.operation = operation, .dtype = dtype, .op = op, .count = count, .root = world / 2});
          }
        }
      }
    }
    return trials;
  });
}

TEST_P(Collectives, MovesTruthValuesAndShortIntegers) {
  run_in_all_worlds([](int world) {
    std::vector<Trial> trials;
    for (const Operation operation : kCollectives) {
      for (const DType dtype : {DType::kI8, DType::kI16, DType::kBool}) {
        if (!combines(operation))
          trials.push_back({.operation = operation, .dtype = dtype, .count = 5, .root = world / 3});
      }
    }
    return trials;
  });
}

TEST_P(Collectives, AnyRankCanBeTheRoot) {
  run_in_all_worlds([](int world) {
    std::vector<Trial> trials;
    for (const Operation operation : kCollectives) {
      if (!has_root(operation)) continue;
      for (int root = 0; root < world; ++root) {
        trials.push_back({.operation = operation, .dtype = DType::kI32, .count = 11, .root = root});
        trials.push_back({.operation = operation, .dtype = DType::kI32, .count = kLong, .root = root});
      }
    }
    return trials;
  });
}

TEST_P(Collectives, WorkInPlace) {
  run_in_all_worlds([](int world) {
    std::vector<Trial> trials;
    for (const Operation operation : kCollectives) {
      if (!can_be_in_place(operation)) continue;
      for (const DType dtype : {DType::kF64, DType::kBF16, DType::kU8}) {
        for (const std::size_t count : {std::size_t{1}, std::size_t{103}, kLong}) {
          trials.push_back({.operation = operation,
                            .dtype = dtype,
                            .count = count,
                            .root = world - 1,
                            .placement = Placement::kInPlace});
        }
      }
    }
    return trials;
  });
}

TEST_P(Collectives, PartsMayDifferAndBeEmpty) {
  run_in_all_worlds([](int world) {
    std::vector<Trial> trials;
    for (const Operation operation : kCollectives) {
      if (!has_parts(operation)) continue;
      for (const DType dtype : {DType::kF32, DType::kF16, DType::kI64}) {
        for (const Placement placement : {Placement::kApart, Placement::kInPlace}) {
          if (placement == Placement::kInPlace && !can_be_in_place(operation)) continue;
          for (const std::size_t count : {std::size_t{34}, kLong}) {
            trials.push_back({.operation = operation,
                              .dtype = dtype,
                              .count = count,
                              .root = world / 2,
                              .placement = placement,
                              .cut = Cut::kRagged});
          }
        }
      }
    }
    return trials;
  });
}

TEST_P(Collectives, LargerThanAnyChunk) {
  run_in_all_worlds([](int world) {
    std::vector<Trial> trials;
    for (const Operation operation : kCollectives) {
      const std::size_t count = has_parts(operation) ? 70'001 / static_cast<std::size_t>(world) : 70'001;
      trials.push_back({.operation = operation, .dtype = DType::kI64, .count = count});
      if (can_be_in_place(operation)) {
        trials.push_back(
            {.operation = operation, .dtype = DType::kF32, .count = count, .placement = Placement::kInPlace});
      }
    }
    trials.push_back({.operation = Operation::kAllReduce, .dtype = DType::kBF16, .count = 70'001});
    trials.push_back({.operation = Operation::kReduceScatter, .count = 20'011, .cut = Cut::kRagged});
    trials.push_back({.operation = Operation::kAllGather, .count = 20'011, .cut = Cut::kRagged});
    return trials;
  });
}

// One large number and many small ones: a sum that is rounded before it is complete loses the small ones.
TEST_P(Collectives, SixteenBitFloatsAreRoundedOnce) {
  COHORT_NEEDS(Ability::kRoundsOnce);
  for (const int world : kWorlds) {
    run(world, [&](Seat& seat) -> Status {
      for (const DType dtype : {DType::kBF16, DType::kF16}) {
        const auto stored = [&](float value) {
          return dtype == DType::kBF16 ? bf16_from_f32(value) : f16_from_f32(value);
        };
        const float large = dtype == DType::kBF16 ? 256.0F : 2048.0F;
        // Too many elements to be sent with the call itself.
        std::pmr::vector<std::uint16_t> numbers(667, stored(seat->rank() == 0 ? large : 0.75F), seat.memory);
        COHORT_RETURN_IF_ERROR(seat->run(all_reduce(Numbers(numbers.data(), numbers.size(), dtype))));
        const std::uint16_t expected = stored(large + 0.75F * static_cast<float>(world - 1));
        for (const std::uint16_t number : numbers) {
          if (number != expected)
            return unexpected(seat, "{}: bits {:x}, not {:x}", name(dtype), number, expected);
        }
      }
      return {};
    });
  }
}

// Numbers whose sum depends on the order of summation.
std::pmr::vector<float> hostile_floats(const Seat& seat, std::size_t count) {
  const int rank = seat->rank();
  std::pmr::vector<float> numbers(count, seat.memory);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t which = (i + static_cast<std::size_t>(rank) * 3) % 5;
    numbers[i] = which == 0   ? 1e30F
                 : which == 1 ? -1e30F
                              : 1e-3F * static_cast<float>(i + 1 + static_cast<std::size_t>(rank));
  }
  return numbers;
}

TEST_P(Collectives, TheSameCallGivesTheSameBits) {
  for (const int world : {2, 3, 5, 8}) {
    run(world, [](Seat& seat) -> Status {
      for (const std::size_t count : {std::size_t{5}, std::size_t{1013}, std::size_t{70'001}}) {
        const std::pmr::vector<float> mine = hostile_floats(seat, count);
        std::vector<std::pmr::vector<float>> results;
        for (int i = 0; i < 3; ++i) results.emplace_back(count, seat.memory);
        for (std::pmr::vector<float>& result : results) {
          COHORT_RETURN_IF_ERROR(seat->run(all_reduce(std::span<const float>(mine), std::span(result))));
        }
        // Every rank has the same bits.
        std::vector<float> of_rank_0(results[0].begin(), results[0].end());
        COHORT_RETURN_IF_ERROR(seat->run(broadcast(std::span(of_rank_0), 0)));
        for (const std::pmr::vector<float>& result : results) {
          if (std::memcmp(result.data(), of_rank_0.data(), count * sizeof(float)) != 0) {
            return unexpected(seat, "the {} floats differ from those of rank 0", count);
          }
        }
      }
      return {};
    });
  }
}

template <class Number>
Status expect_nan(Seat& seat, ReduceOp op) {
  // Every rank has its NaN at an index of its own; at the last index no rank has one.
  const auto world = static_cast<std::size_t>(seat.size());
  std::vector<Number> numbers(world + 1, static_cast<Number>(seat->rank()));
  numbers[static_cast<std::size_t>(seat->rank())] = std::numeric_limits<Number>::quiet_NaN();
  COHORT_RETURN_IF_ERROR(seat->run(all_reduce(std::span(numbers), op)));
  for (std::size_t i = 0; i < world; ++i) {
    if (!std::isnan(numbers[i])) return unexpected(seat, "{} at {} in {}", numbers[i], i, name(op));
  }
  const Number expected = op == ReduceOp::kMin ? Number{0} : static_cast<Number>(seat.size() - 1);
  if (numbers[world] != expected) return unexpected(seat, "{} is no {}", numbers[world], name(op));
  return {};
}

TEST_P(Collectives, ANaNWinsInMinAndMax) {
  for (const int world : kWorlds) {
    run(world, [](Seat& seat) -> Status {
      for (const ReduceOp op : {ReduceOp::kMin, ReduceOp::kMax}) {
        COHORT_RETURN_IF_ERROR(expect_nan<float>(seat, op));
        COHORT_RETURN_IF_ERROR(expect_nan<double>(seat, op));
      }
      return {};
    });
  }
}

std::int64_t nanoseconds_now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

// All threads and processes of a host have the same steady clock.
TEST_P(Collectives, NobodyLeavesABarrierBeforeAllHaveCome) {
  for (const int world : kWorlds) {
    run(world, [](Seat& seat) -> Status {
      for (int round = 1; round <= 20; ++round) {
        std::int64_t came = nanoseconds_now();
        COHORT_RETURN_IF_ERROR(seat->run(barrier()));
        const std::int64_t left = nanoseconds_now();
        COHORT_RETURN_IF_ERROR(seat->run(all_reduce(std::span(&came, 1), ReduceOp::kMax)));
        if (left < came)
          return unexpected(seat, "the rank left the barrier {} ns too early in round {}", came - left,
                            round);
      }
      return {};
    });
  }
}

COHORT_FOR_ALL_KINDS(Collectives);

}  // namespace
}  // namespace cohort::test
