#include "tensors.h"

#include <atomic>
#include <cohort/error.h>
#include <cohort/views.h>
#include <gtest/gtest.h>
#include <set>

namespace cohort {
namespace {

using test::Counting;
using test::is_consistent;
using test::values;

/// Counts how often it is asked.
struct Asked : Counting {
  using Counting::Counting;
  Sample at(std::int64_t index) const override {
    ++times;
    return Counting::at(index);
  }
  mutable std::atomic<int> times = 0;
};

TEST(Views, TransformChangesEverySample) {
  const auto doubled = transform(std::make_shared<Counting>(3), [](Sample sample, std::int64_t index) {
    return Sample{sample.input * 2, sample.target + index};
  });
  EXPECT_EQ(doubled->size(), 3);
  EXPECT_EQ(values<float>(doubled->batch(test::up_to(3)).input), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values<std::int64_t>(doubled->batch(test::up_to(3)).target),
            (std::vector<std::int64_t>{0, 2, 4}));
  EXPECT_TRUE(is_consistent(*doubled, 3));
}

// Appends a random number to each input.
std::shared_ptr<Dataset> with_number(std::shared_ptr<const Dataset> source) {
  return augment(std::move(source), [](Sample sample, const RandomStream& random) {
    sample.input = at::cat({sample.input, at::full({1}, random.uniform(0), at::kDouble)});
    return sample;
  });
}

std::vector<double> numbers(const Dataset& data, const Draw& draw) {
  return values<double>(data.batch(test::up_to(data.size()), draw).input.select(1, -1));
}

TEST(Views, AugmentIsAFunctionOfSeedEpochAndIndex) {
  const auto data = with_number(std::make_shared<Counting>(50));
  const std::vector<double> first = numbers(*data, {.seed = 3, .epoch = 1});
  EXPECT_EQ(std::set<double>(first.begin(), first.end()).size(), 50u);
  EXPECT_EQ(first, numbers(*with_number(std::make_shared<Counting>(50)), {.seed = 3, .epoch = 1}));
  EXPECT_NE(first, numbers(*data, {.seed = 3, .epoch = 2}));
  EXPECT_NE(first, numbers(*data, {.seed = 4, .epoch = 1}));
  for (std::int64_t i = 0; i < 50; ++i) {  // alone as in company
    EXPECT_EQ(data->drawn(i, {.seed = 3, .epoch = 1}).input[2].item<double>(),
              first[static_cast<std::size_t>(i)]);
  }
}

TEST(Views, EvaluationsSeeOneDraw) {
  const auto data = with_number(std::make_shared<Counting>(5));
  EXPECT_TRUE(is_consistent(*data, 5));
  EXPECT_EQ(values<double>(data->batch(test::up_to(5)).input.select(1, -1)), numbers(*data, Draw{}));
}

TEST(Views, AugmentationsOverEachOtherAreIndependent) {
  const Batch batch = with_number(with_number(std::make_shared<Counting>(20)))
                          ->batch(test::up_to(20), {.seed = 1, .epoch = 1});
  EXPECT_FALSE(batch.input.select(1, 2).eq(batch.input.select(1, 3)).any().item<bool>());
}

TEST(Views, OtherViewsPassTheDrawOn) {
  const Draw one{.seed = 1, .epoch = 1}, two{.seed = 1, .epoch = 2};
  const auto source = with_number(std::make_shared<Counting>(6));
  const auto same = transform(source, [](Sample sample, std::int64_t) { return sample; });
  EXPECT_EQ(numbers(*same, one), numbers(*source, one));
  EXPECT_NE(numbers(*same, one), numbers(*same, two));
  const auto part = subset(source, 2, 5);
  const std::vector<double> all = numbers(*source, two);
  EXPECT_EQ(numbers(*part, two), std::vector<double>(all.begin() + 2, all.begin() + 5));
  EXPECT_EQ(part->drawn(0, two).input[2].item<double>(), all[2]);
  EXPECT_NE(numbers(*shuffle(source, 1), one), numbers(*shuffle(source, 1), two));
}

TEST(Views, ACacheKeepsTheSamplesOfEvaluations) {
  const auto source = with_number(std::make_shared<Counting>(6));
  const auto cached = cache(source);
  EXPECT_EQ(numbers(*cached, {.seed = 1, .epoch = 2}), numbers(*source, Draw{}));
  const auto over = with_number(cache(std::make_shared<Counting>(6)));
  EXPECT_NE(numbers(*over, {.seed = 1, .epoch = 1}), numbers(*over, {.seed = 1, .epoch = 2}));
}

TEST(Views, CacheAsksForASampleOnce) {
  const auto source = std::make_shared<Asked>(5);
  const auto cached = cache(source);
  EXPECT_TRUE(is_consistent(*cached, 5));
  EXPECT_TRUE(is_consistent(*cached, 5));
  EXPECT_EQ(source->times, 5);
  EXPECT_THROW(cached->at(5), UsageError);
  EXPECT_THROW(cached->at(-1), UsageError);
}

TEST(Views, CacheForgetsNoFailure) {
  auto fails_once = std::make_shared<std::atomic<bool>>(true);
  const auto cached =
      cache(transform(std::make_shared<Counting>(2), [fails_once](Sample sample, std::int64_t) {
        if (fails_once->exchange(false)) throw UsageError("not now");
        return sample;
      }));
  EXPECT_THROW(cached->at(1), UsageError);
  EXPECT_EQ(cached->at(1).target.item<std::int64_t>(), 1);
}

TEST(Views, SubsetCountsFromZero) {
  const auto part = subset(std::make_shared<Counting>(10), 3, 7);
  EXPECT_EQ(part->size(), 4);
  EXPECT_EQ(values<std::int64_t>(part->batch(test::up_to(4)).target),
            (std::vector<std::int64_t>{3, 4, 5, 6}));
  EXPECT_TRUE(is_consistent(*part, 4));
  EXPECT_THROW(part->at(4), UsageError);
  EXPECT_THROW(part->batch(std::vector<std::int64_t>{0, -1}), UsageError);
  EXPECT_EQ(subset(part, 4, 4)->size(), 0);
  EXPECT_THROW(subset(part, 0, 5), UsageError);
  EXPECT_THROW(subset(part, 3, 2), UsageError);
  EXPECT_THROW(subset(part, -1, 2), UsageError);
}

TEST(Views, ShuffleHasEverySampleOnceInAFixedOrder) {
  const auto source = std::make_shared<Counting>(101);
  const auto mixed = shuffle(source, 7);
  const auto order = values<std::int64_t>(mixed->batch(test::up_to(101)).target);
  EXPECT_EQ(std::set<std::int64_t>(order.begin(), order.end()).size(), 101u);
  EXPECT_NE(order, test::up_to(101));
  EXPECT_EQ(order, values<std::int64_t>(shuffle(source, 7)->batch(test::up_to(101)).target));
  EXPECT_NE(order, values<std::int64_t>(shuffle(source, 8)->batch(test::up_to(101)).target));
  EXPECT_TRUE(is_consistent(*mixed, 101));
}

TEST(Views, SelectTakesSamplesByTheirIndices) {
  const auto chosen = select(std::make_shared<Counting>(7), {5, 0, 5});
  EXPECT_EQ(values<std::int64_t>(chosen->batch(test::up_to(3)).target), (std::vector<std::int64_t>{5, 0, 5}));
  EXPECT_EQ(chosen->batch(test::up_to(2)).samples, test::up_to(2));
  EXPECT_TRUE(is_consistent(*chosen, 3));
  EXPECT_THROW(chosen->at(3), UsageError);
  EXPECT_THROW(select(chosen, {3}), UsageError);
  EXPECT_EQ(select(chosen, {})->size(), 0);
}

TEST(Views, LieOverEachOther) {
  const auto view = subset(shuffle(cache(std::make_shared<Counting>(20)), 1), 5, 15);
  EXPECT_TRUE(is_consistent(*view, 10));
  EXPECT_EQ(view->batch(test::up_to(2)).samples, test::up_to(2));
}

TEST(Views, NeedSomethingToLookAt) {
  EXPECT_THROW(cache(nullptr), UsageError);
  EXPECT_THROW(shuffle(nullptr, 1), UsageError);
  EXPECT_THROW(subset(nullptr, 0, 0), UsageError);
  EXPECT_THROW(select(nullptr, {}), UsageError);
  EXPECT_THROW(transform(nullptr, [](Sample sample, std::int64_t) { return sample; }), UsageError);
  EXPECT_THROW(transform(std::make_shared<Counting>(1), nullptr), UsageError);
  EXPECT_THROW(with_number(nullptr), UsageError);
  EXPECT_THROW(augment(std::make_shared<Counting>(1), nullptr), UsageError);
}

}  // namespace
}  // namespace cohort
