#include "ucx/in_order.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

namespace cohort::ucx {
namespace {

std::vector<int> take_all(InOrder<std::unique_ptr<int>>& things) {
  std::vector<int> taken;
  for (; things.front() != nullptr; things.pop()) taken.push_back(**things.front());
  return taken;
}

TEST(InOrder, GivesEveryOrderOfArrivalInTheOrderOfNumbers) {
  std::vector<int> numbers = {1, 2, 3, 4, 5};
  do {
    InOrder<std::unique_ptr<int>> things;
    std::vector<int> taken;
    for (const int number : numbers) {
      things.add(static_cast<std::uint64_t>(number), std::make_unique<int>(number));
      const std::vector<int> now = take_all(things);
      taken.insert(taken.end(), now.begin(), now.end());
    }
    EXPECT_EQ(taken, (std::vector<int>{1, 2, 3, 4, 5}));
  } while (std::next_permutation(numbers.begin(), numbers.end()));
}

TEST(InOrder, WaitsForTheOneThatIsMissing) {
  InOrder<std::unique_ptr<int>> things;
  things.add(2, std::make_unique<int>(2));
  EXPECT_EQ(things.front(), nullptr);
}

TEST(InOrder, KeepsTheFrontInPlaceWhileOthersCome) {
  InOrder<int> things;
  things.add(1, 1);
  const int* const front = things.front();
  for (std::uint64_t number = 2; number < 5000; ++number) things.add(number, 0);
  EXPECT_EQ(things.front(), front);
}

TEST(InOrder, DrainsWhatIsLeftWithGaps) {
  InOrder<int> things;
  for (const unsigned number : {1U, 4U, 2U}) things.add(number, static_cast<int>(number));
  std::vector<int> left;
  things.drain([&](int each) { left.push_back(each); });
  EXPECT_EQ(left, (std::vector<int>{1, 2, 4}));
  EXPECT_EQ(things.front(), nullptr);
}

}  // namespace
}  // namespace cohort::ucx
