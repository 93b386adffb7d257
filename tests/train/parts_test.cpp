#include "train/engine.h"
#include "train/slot_tree.h"
#include "train/vote.h"

#include <gtest/gtest.h>
#include <mutex>

namespace cohort::train {
namespace {

TEST(SlotTree, IsTheSameHoweverSlotsAreShared) {
  constexpr std::size_t kSlots = 8;
  const auto slot = [](std::size_t i) {
    return std::vector<float>{1.0f / static_cast<float>(3 * i + 1), 1e8f * (i % 2 ? 1.0f : -1.0f)};
  };
  std::vector<std::vector<float>> sums;
  for (const std::size_t ranks : {1u, 2u, 4u, 8u}) {
    std::vector<std::vector<float>> parts;
    const std::size_t each = kSlots / ranks;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      SlotTree tree;
      std::vector<float> numbers;
      for (std::size_t i = 0; i < each; ++i) {
        numbers = slot(rank * each + i);
        tree.add(numbers, i, each);
      }
      parts.push_back(numbers);
    }
    std::vector<float*> pointers;
    for (auto& part : parts) pointers.push_back(part.data());
    sum_as_tree(pointers, 2);
    sums.push_back(parts[0]);
  }
  for (const auto& sum : sums) EXPECT_EQ(sum, sums[0]);
}

TEST(Vote, TheMinorityDeviates) {
  EXPECT_EQ(deviating_ranks({5, 5, 5}), std::vector<int>{});
  EXPECT_EQ(deviating_ranks({5, 7, 5}), std::vector<int>{1});
  EXPECT_EQ(deviating_ranks({7, 5, 5}), std::vector<int>{0});
  EXPECT_EQ(deviating_ranks({7, 5}), std::vector<int>{1}) << "without a majority rank 0 is right";
}

TEST(Engine, BucketsRunBesideSlotsInOrder) {
  std::mutex mutex;
  std::vector<std::string> said;
  Engine* running = nullptr;
  Engine engine([&](const Action& action) {
    if (action.kind == ActionKind::kBackward) {
      running->filled(1);  // bucket 1 is full before bucket 0
      running->filled(0);
    }
    const std::lock_guard lock(mutex);
    said.push_back(action.text());
  });
  running = &engine;
  for (int i = 0; i < 100; ++i) {
    said.clear();
    engine.run(data_parallel_program({3}, 2, UpdateTime::kAfterVote, Copies::kPerRank));
    ASSERT_EQ(said.size(), 10u);
    const auto place = [&](const std::string& text) {
      return std::find(said.begin(), said.end(), text) - said.begin();
    };
    EXPECT_LT(place("reduce bucket 0"), place("reduce bucket 1"));
    EXPECT_LT(place("reduce bucket 1"), place("vote"));
    EXPECT_LT(place("vote"), place("update bucket 0"));
    EXPECT_LT(place("gather bucket 0"), place("update bucket 1"));
  }
}

TEST(Engine, AFailureInEitherLaneEndsBoth) {
  for (const ActionKind failing : {ActionKind::kForward, ActionKind::kReduce, ActionKind::kVote}) {
    Engine* running = nullptr;
    Engine engine([&](const Action& action) {
      if (action.kind == failing) throw std::runtime_error("planted");
      if (action.kind == ActionKind::kBackward) running->filled(0);
    });
    running = &engine;
    EXPECT_THROW(engine.run(data_parallel_program({0}, 1, UpdateTime::kAfterVote, Copies::kPerRank)),
                 std::runtime_error);
  }
}

}  // namespace
}  // namespace cohort::train
