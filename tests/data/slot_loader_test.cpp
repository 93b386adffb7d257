#include "data/slot_loader.h"

#include "base/manual_clock.h"
#include "tensors.h"

#include <atomic>
#include <cohort/error.h>
#include <gtest/gtest.h>
#include <latch>

namespace cohort {
namespace {

using test::Counting;
using test::values;

SampleOrder order_of(std::uint64_t samples) {
  return {samples, Shuffle::kEveryEpoch, 5};
}

std::vector<SlotAddress> slots_of(const BatchPlan& plan, std::uint64_t epoch) {
  std::vector<SlotAddress> all;
  for (std::uint64_t step = 0; step < plan.steps_per_epoch(); ++step) {
    for (int slot = 0; slot < plan.slots(); ++slot) all.push_back({epoch, step, slot});
  }
  return all;
}

std::vector<std::int64_t> expected_samples(const BatchPlan& plan, const SampleOrder& order,
                                           const SlotAddress& at) {
  std::vector<std::int64_t> samples;
  const IndexRange range = plan.indices(at);
  for (std::uint64_t p = range.first; p < range.last; ++p)
    samples.push_back(static_cast<std::int64_t>(order.at(at.epoch, p)));
  return samples;
}

/// Lets batches pass one by one, and counts them.
struct Gated : Counting {
  using Counting::Counting;

  Batch batch(std::span<const std::int64_t> indices, const Draw& draw) const override {
    {
      std::unique_lock lock(mutex);
      ++begun;
      changed.notify_all();
      changed.wait(lock, [&] { return allowed > 0; });
      --allowed;
    }
    return Counting::batch(indices, draw);
  }
  void allow(int count) {
    const std::lock_guard lock(mutex);
    allowed += count;
    changed.notify_all();
  }
  void wait_until_begun(int count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return begun >= count; });
  }

  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  mutable int allowed = 0;
  mutable int begun = 0;
};

void wait_until_ready(const SlotLoader& loader, int count) {
  while (loader.ready() < count) std::this_thread::yield();
}

TEST(SlotLoader, GivesEverySlotInOrderWhateverTheThreadsAndDepth) {
  for (int threads : {0, 1, 2, 5}) {
    for (int depth : {1, 2, 7}) {
      const BatchPlan plan(53, 8, 3);
      SlotLoader loader(std::make_shared<Counting>(53), order_of(53), plan,
                        {.threads = threads, .depth = depth});
      for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
        loader.expect(slots_of(plan, epoch));
        for (const SlotAddress& address : slots_of(plan, epoch)) {
          const Batch batch = loader.take(address);
          ASSERT_EQ(batch.samples, expected_samples(plan, order_of(53), address));
          ASSERT_EQ(values<std::int64_t>(batch.target), batch.samples);
        }
      }
    }
  }
}

TEST(SlotLoader, GivesAnySlotAtOnceAndKeepsWhatWasExpected) {
  const BatchPlan plan(40, 10, 2);
  SlotLoader loader(std::make_shared<Counting>(40), order_of(40), plan, {.threads = 2});
  loader.expect(slots_of(plan, 0));
  for (const SlotAddress& address : slots_of(plan, 0)) {
    const SlotAddress other{9, 3 - address.step_in_epoch, address.slot};
    EXPECT_EQ(loader.take(other).samples, expected_samples(plan, order_of(40), other));
    EXPECT_EQ(loader.take(address).samples, expected_samples(plan, order_of(40), address));
  }
}

TEST(SlotLoader, AnyRankGetsTheSameSlot) {
  const BatchPlan plan(40, 10, 4);
  SlotLoader one(std::make_shared<Counting>(40), order_of(40), plan);
  SlotLoader other(std::make_shared<Counting>(40), order_of(40), plan, {.threads = 0});
  for (const SlotAddress& address : slots_of(plan, 2)) {
    EXPECT_TRUE(at::equal(one.take(address).input, other.take(address).input));
  }
}

TEST(SlotLoader, LoadsAheadAsFarAsItMay) {
  const auto gated = std::make_shared<Gated>(100);
  const BatchPlan plan(100, 10, 1);
  SlotLoader loader(gated, order_of(100), plan, {.threads = 1, .depth = 3});
  gated->allow(100);
  loader.expect(slots_of(plan, 0));
  gated->wait_until_begun(3);  // before anything was taken
  for (int i = 0; i < 7; ++i) {
    loader.take({0, static_cast<std::uint64_t>(i), 0});
    gated->wait_until_begun(4 + i);  // each take lets one more begin
  }
  EXPECT_LE(loader.ready(), 3);
}

TEST(SlotLoader, NeverBeginsMoreThanItMay) {
  const auto gated = std::make_shared<Gated>(100);
  const BatchPlan plan(100, 10, 1);
  SlotLoader loader(gated, order_of(100), plan, {.threads = 5, .depth = 2});
  loader.expect(slots_of(plan, 0));
  gated->wait_until_begun(2);
  gated->allow(2);
  wait_until_ready(loader, 2);
  loader.take({0, 0, 0});
  loader.take({0, 1, 0});
  gated->wait_until_begun(4);
  {
    const std::lock_guard lock(gated->mutex);
    EXPECT_EQ(gated->begun, 4);
  }
  gated->allow(100);
}

TEST(SlotLoader, TheCallerLoadsWhatNoThreadHasBegun) {
  const auto gated = std::make_shared<Gated>(20);
  const BatchPlan plan(20, 10, 1);
  SlotLoader loader(gated, order_of(20), plan, {.threads = 0});
  gated->allow(2);
  loader.expect(slots_of(plan, 0));
  EXPECT_EQ(loader.take({0, 0, 0}).samples.size(), 10u);
  EXPECT_EQ(loader.take({0, 1, 0}).samples.size(), 10u);
}

TEST(SlotLoader, ForgetsWhatWillNotBeAskedFor) {
  const BatchPlan plan(40, 10, 1);
  SlotLoader loader(std::make_shared<Counting>(40), order_of(40), plan);
  loader.expect(slots_of(plan, 0));
  loader.forget();
  EXPECT_EQ(loader.ready(), 0);
  loader.expect(slots_of(plan, 1));
  EXPECT_EQ(loader.take({1, 0, 0}).samples, expected_samples(plan, order_of(40), {1, 0, 0}));
}

TEST(SlotLoader, ASlotWithoutSamplesAsksNobody) {
  const auto gated = std::make_shared<Gated>(3);
  const BatchPlan plan(3, 3, 4);
  SlotLoader loader(gated, order_of(3), plan, {.threads = 0});
  const Batch batch = loader.take({0, 0, 0});
  EXPECT_TRUE(batch.samples.empty());
  EXPECT_FALSE(batch.input.defined());
  EXPECT_EQ(gated->begun, 0);
}

/// Throws for one sample, in one of several ways.
struct Failing : Counting {
  Failing(std::int64_t size, int way) : Counting(size), way_(way) {}

  Sample at(std::int64_t index) const override {
    if (index == 4) {
      if (way_ == 0) throw Error(ErrorCode::kCorrupt, "record 4 is torn");
      if (way_ == 1) throw std::out_of_range("four");
      if (way_ == 2) TORCH_CHECK(false, "wrong shape");
      throw 4;
    }
    return Counting::at(index);
  }

 private:
  const int way_;
};

TEST(SlotLoader, ThrowsWhatLoadingThrewAndNamesTheSamples) {
  const char* const words[] = {"record 4 is torn", "four", "wrong shape",
                               "an exception that is not a std::exception"};
  for (int way = 0; way < 4; ++way) {
    for (int threads : {0, 2}) {
      const BatchPlan plan(6, 2, 1);
      const SampleOrder in_order(6, Shuffle::kNone, 0);
      SlotLoader loader(std::make_shared<Failing>(6, way), in_order, plan, {.threads = threads});
      loader.expect(slots_of(plan, 0));
      loader.expect(slots_of(plan, 1));
      EXPECT_EQ(loader.take({0, 0, 0}).samples.size(), 2u);
      EXPECT_EQ(loader.take({0, 1, 0}).samples.size(), 2u);
      try {
        loader.take({0, 2, 0});
        FAIL();
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), way == 0 ? ErrorCode::kCorrupt : ErrorCode::kIo);
        EXPECT_NE(error.text().find("cannot load samples 4, 5 (slot 0 of step 2 in epoch 0): "),
                  std::string::npos);
        EXPECT_NE(error.text().find(words[way]), std::string::npos) << error.text();
      }
      EXPECT_EQ(loader.take({1, 0, 0}).samples.size(), 2u);  // life goes on
    }
  }
}

struct Short : Counting {
  using Counting::Counting;
  Batch batch(std::span<const std::int64_t> indices, const Draw& draw) const override {
    return Counting::batch(indices.first(1), draw);
  }
};

TEST(SlotLoader, RefusesABatchOfAnotherSize) {
  SlotLoader loader(std::make_shared<Short>(4), order_of(4), BatchPlan(4, 2, 1));
  EXPECT_THROW(loader.take({0, 0, 0}), UsageError);
}

/// Its targets tell the draw.
struct Drawn : Counting {
  using Counting::Counting;
  Sample drawn(std::int64_t index, const Draw& draw) const override {
    Sample sample = Counting::at(index);
    sample.target = at::scalar_tensor(static_cast<std::int64_t>(draw.seed * 100 + draw.epoch), at::kLong);
    return sample;
  }
};

TEST(SlotLoader, SamplesAreThoseOfTheDrawOfTheirEpoch) {
  const BatchPlan plan(4, 2, 1);
  for (const int threads : {0, 2}) {
    SlotLoader loader(std::make_shared<Drawn>(4), order_of(4), plan, {.threads = threads, .seed = 7});
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      loader.expect(slots_of(plan, epoch));
      for (const SlotAddress& address : slots_of(plan, epoch)) {
        const auto expected = static_cast<std::int64_t>(701 + epoch);  // epochs of a training count from 1
        EXPECT_EQ(values<std::int64_t>(loader.take(address).target), std::vector<std::int64_t>(2, expected));
      }
    }
  }
}

struct ShortMask : Counting {
  using Counting::Counting;
  Batch batch(std::span<const std::int64_t> indices, const Draw& draw) const override {
    Batch batch = Counting::batch(indices, draw);
    batch.others = {{"mask", at::zeros({1})}};
    return batch;
  }
};

TEST(SlotLoader, RefusesATensorOfAnotherNumberOfRows) {
  SlotLoader loader(std::make_shared<ShortMask>(4), order_of(4), BatchPlan(4, 2, 1));
  try {
    loader.take({0, 0, 0});
    ADD_FAILURE() << "the mask has one row";
  } catch (const UsageError& error) {
    EXPECT_NE(error.text().find("the first dimension of 'mask' is not 2"), std::string::npos) << error.text();
  }
}

TEST(SlotLoader, AWaitEndsWithTheLimit) {
  const auto gated = std::make_shared<Gated>(4);
  const BatchPlan plan(4, 2, 1);
  SlotLoader loader(gated, order_of(4), plan, {.threads = 1, .limit = std::chrono::milliseconds(1)});
  loader.expect(slots_of(plan, 0));
  gated->wait_until_begun(1);
  try {
    loader.take({0, 0, 0});
    ADD_FAILURE() << "it had nothing to give";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kTimedOut);
    EXPECT_NE(error.text().find("slot 0 of step 0 in epoch 0"), std::string::npos);
  }
  gated->allow(100);
}

/// Takes a second on a clock for each batch.
struct Slow : Counting {
  Slow(std::int64_t size, std::shared_ptr<ManualClock> time) : Counting(size), clock(std::move(time)) {}
  Batch batch(std::span<const std::int64_t> indices, const Draw& draw) const override {
    clock->advance(std::chrono::seconds(1));
    return Counting::batch(indices, draw);
  }
  const std::shared_ptr<ManualClock> clock;
};

TEST(SlotLoader, CountsTheTimeThatTakeKeepsItsCaller) {
  const auto clock = std::make_shared<ManualClock>();
  const BatchPlan plan(30, 10, 1);
  SlotLoader loader(std::make_shared<Slow>(30, clock), order_of(30), plan, {.threads = 0, .clock = clock});
  EXPECT_EQ(loader.stall(), std::chrono::seconds(0));
  loader.take({0, 0, 0});
  loader.take({0, 1, 0});
  EXPECT_EQ(loader.stall(), std::chrono::seconds(2));
}

TEST(SlotLoader, WhatIsReadyCostsNoTime) {
  const auto clock = std::make_shared<ManualClock>();
  const BatchPlan plan(20, 10, 1);
  SlotLoader loader(std::make_shared<Slow>(20, clock), order_of(20), plan, {.threads = 1, .clock = clock});
  loader.expect(slots_of(plan, 0));
  wait_until_ready(loader, 2);
  loader.take({0, 0, 0});
  loader.take({0, 1, 0});
  EXPECT_EQ(loader.stall(), std::chrono::seconds(0));
}

TEST(SlotLoader, EndsWhileMuchIsExpectedAndReleasesTheDataSet) {
  std::weak_ptr<const Dataset> watched;
  {
    const auto dataset = std::make_shared<Counting>(1000);
    watched = dataset;
    const BatchPlan plan(1000, 4, 1);
    SlotLoader loader(dataset, order_of(1000), plan, {.threads = 3, .depth = 100});
    for (std::uint64_t epoch = 0; epoch < 4; ++epoch) loader.expect(slots_of(plan, epoch));
    loader.take({0, 0, 0});
  }
  EXPECT_TRUE(watched.expired());
}

TEST(SlotLoader, ManyThreadsAndTwoLoadersOverOneDataSet) {
  const auto dataset = std::make_shared<Counting>(97);
  const BatchPlan plan(97, 6, 2);
  std::latch start(2);
  const auto body = [&](std::uint64_t epoch) {
    SlotLoader loader(dataset, order_of(97), plan, {.threads = 3, .depth = 5});
    start.arrive_and_wait();
    loader.expect(slots_of(plan, epoch));
    for (const SlotAddress& address : slots_of(plan, epoch)) {
      EXPECT_EQ(loader.take(address).samples, expected_samples(plan, order_of(97), address));
    }
  };
  std::thread other(body, 1);
  body(2);
  other.join();
}

}  // namespace
}  // namespace cohort
