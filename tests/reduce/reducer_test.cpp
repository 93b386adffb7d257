// Every reducer in every world, lane and memory. A reducer is made once for all jobs of a lane, as in
// training.

#include "reduce/reducing.h"

#include <thread>

namespace cohort::test {
namespace {

constexpr int kNumLanes = 3;  // lanes 1 and 2 have buckets

/// The elements of a bucket are a multiple of 16 for each rank.
std::vector<std::size_t> bucket_sizes(int world) {
  std::vector<std::size_t> sizes;
  for (const std::size_t blocks : {1u, 251u, 3u, 17u}) {  // memory of a lane grows, and is then too large
    sizes.push_back(blocks * 16 * static_cast<std::size_t>(world));
  }
  return sizes;
}

/// Gets the sum of a slice, and compares each piece with the expected sum.
class Checker {
 public:
  Checker(const ReduceJob& job, int lane)
      : world_(job.groups.size()),
        lane_(lane),
        first_(job.own_slice().count * static_cast<std::size_t>(job.groups.shard())) {}

  void take(std::size_t first, ConstNumbers piece) {
    is_right_ = is_right_ && first == num_taken_ && piece.dtype == DType::kF32;
    const auto* numbers = reinterpret_cast<const float*>(piece.data);
    for (std::size_t i = 0; i < piece.count; ++i) {
      is_right_ = is_right_ && numbers[i] == sum_of_gradients(world_, lane_, first_ + first + i);
    }
    num_taken_ += piece.count;
  }
  bool has_all(std::size_t count) const { return is_right_ && num_taken_ == count; }

 private:
  const int world_;
  const int lane_;
  const std::size_t first_;  // element of the bucket at which the slice begins
  std::size_t num_taken_ = 0;
  bool is_right_ = true;
};

enum class Form { kConsumer, kTo };

struct LaneOfRank {
  Seat& seat;
  const Company& groups;
  Reducer& reducer;
  int lane;
};

// One job. Returns an error if the sum is wrong, or if a gradient was changed that others may read.
Status reduce_one(const LaneOfRank& at, std::size_t count, Form form) {
  Gradients gradients(at.seat, at.lane, count);
  const ReduceJob job{.groups = at.groups, .lane = at.lane, .gradients = gradients.numbers(), .bucket = 7};
  const std::size_t own = job.own_slice().count;
  Checker checker(job, at.lane);
  if (form == Form::kConsumer) {
    const Consumer consumer = [&](std::size_t first, ConstNumbers piece) { checker.take(first, piece); };
    at.reducer.reduce(job, consumer);
  } else {
    std::vector<float> to(own, -1);
    at.reducer.reduce(job, Numbers(std::span(to)));
    checker.take(0, at.reducer.sums_in_place() ? ConstNumbers(job.own_slice()) : ConstNumbers(to));
  }
  COHORT_RETURN_IF_ERROR(at.groups.all().run(barrier()));  // others have read the gradients
  if (!checker.has_all(own)) return unexpected(at.seat, "bucket of {} in lane {}: wrong sum", count, at.lane);
  if (!at.reducer.sums_in_place() && !gradients.are_untouched()) {
    return unexpected(at.seat, "bucket of {} in lane {}: gradients were changed", count, at.lane);
  }
  return {};
}

Status reduce_all(const LaneOfRank& at) {
  for (const Form form : {Form::kConsumer, Form::kTo}) {
    for (const std::size_t count : bucket_sizes(at.groups.size())) {
      COHORT_RETURN_IF_ERROR(reduce_one(at, count, form));
    }
  }
  return {};
}

TEST_P(EveryReducer, GivesEachRankTheSumOfItsSlice) {
  for (const int world : {1, 2, 3, 4, 5, 6, 8}) {
    run(world, [this](Seat& seat) {
      const Company groups(*seat, "lane 1", kind().near);
      const auto reducer = kind().make(groups, kNumLanes);
      return reduce_all({seat, groups, *reducer, 1});
    });
  }
}

TEST_P(EveryReducer, ReducesInSeveralLanesAtOnce) {
  for (const int world : {1, 3, 4}) {
    run(world, [this](Seat& seat) -> Status {
      const Company first(*seat, "lane 1", kind().near), second(*seat, "lane 2", kind().near);
      const auto reducer = kind().make(first, kNumLanes);
      Status in_second;
      std::thread other([&] {
        for (int i = 0; i < 3 && in_second; ++i) in_second = reduce_all({seat, second, *reducer, 2});
      });
      Status in_first;
      for (int i = 0; i < 3 && in_first; ++i) in_first = reduce_all({seat, first, *reducer, 1});
      other.join();
      COHORT_RETURN_IF_ERROR(in_first);
      return in_second;
    });
  }
}

// The line of the table tells before a reducer is made whether gradients may lie where backward reads them.
TEST_P(EveryReducer, IsAsItsLineSays) {
  run(4, [this](Seat& seat) -> Status {
    const Company groups(*seat, "lane 1", kind().near);
    const auto reducer = kind().make(groups, kNumLanes);
    if (reducer->sums_in_place() != kind().sums_in_place) return unexpected(seat, "sums_in_place differs");
    return {};
  });
}

// The groups suit the reducers of all parts of a model: one that needs the order of ranks decides for all.
TEST_P(EveryReducer, SumsByTheGroupsOfOtherReducers) {
  for (const int world : {4, 6}) {
    run(world, [this](Seat& seat) {
      const Company groups(*seat, "lane 1", NearGroups::kInOrder);
      const auto reducer = kind().make(groups, kNumLanes);
      return reduce_all({seat, groups, *reducer, 1});
    });
  }
}

COHORT_FOR_ALL_REDUCERS(EveryReducer);

}  // namespace
}  // namespace cohort::test
