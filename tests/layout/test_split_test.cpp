#include "layout/test_split.h"

#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <string>

namespace cohort {
namespace {

std::size_t marked(const std::vector<bool>& is_test) {
  return static_cast<std::size_t>(std::count(is_test.begin(), is_test.end(), true));
}

TEST(TestSplit, HasTheShareRoundedDown) {
  for (const SplitKind kind : {SplitKind::kEnd, SplitKind::kRandom, SplitKind::kStratified}) {
    for (const std::size_t count : {0u, 1u, 2u, 7u, 10u, 97u, 1000u}) {
      std::vector<std::int64_t> classes(count);
      for (std::size_t i = 0; i < count; ++i) classes[i] = static_cast<std::int64_t>(i * i % 5);
      for (const double share : {0.0, 0.125, 0.5, 0.875}) {
        const auto is_test = choose_test_samples({kind, share, 3}, count, classes);
        EXPECT_EQ(is_test.size(), count);
        EXPECT_EQ(marked(is_test), static_cast<std::size_t>(share * static_cast<double>(count)));
      }
    }
  }
}

TEST(TestSplit, TheEndIsTheEnd) {
  EXPECT_EQ(choose_test_samples({SplitKind::kEnd, 0.5, 1}, 5, {}),
            (std::vector<bool>{false, false, false, true, true}));
}

TEST(TestSplit, RandomSamplesComeFromEverywhereAndDependOnTheSeedAlone) {
  const auto first = choose_test_samples({SplitKind::kRandom, 0.25, 1}, 1000, {});
  EXPECT_EQ(first, choose_test_samples({SplitKind::kRandom, 0.25, 1}, 1000, {}));
  EXPECT_NE(first, choose_test_samples({SplitKind::kRandom, 0.25, 2}, 1000, {}));
  for (std::size_t tenth = 0; tenth < 10; ++tenth) {
    const auto begin = first.begin() + static_cast<std::ptrdiff_t>(100 * tenth);
    const auto count = std::count(begin, begin + 100, true);
    EXPECT_GT(count, 5) << tenth;  // 25 are expected; fewer than 6 have a probability below 1e-6
    EXPECT_LT(count, 50) << tenth;
  }
}

// Sorted by class, as many files are: the end would have one class only.
TEST(TestSplit, StratifiedKeepsTheShareOfEachClass) {
  const std::map<std::int64_t, std::size_t> sizes{{-1, 80}, {0, 16}, {5, 40}, {7, 8}};
  std::vector<std::int64_t> classes;
  for (const auto& [number, size] : sizes) classes.insert(classes.end(), size, number);
  const auto is_test = choose_test_samples({SplitKind::kStratified, 0.25, 9}, classes.size(), classes);
  std::map<std::int64_t, std::size_t> tested;
  for (std::size_t i = 0; i < classes.size(); ++i) tested[classes[i]] += is_test[i] ? 1 : 0;
  for (const auto& [number, size] : sizes) EXPECT_EQ(tested[number], size / 4) << number;
  EXPECT_NE(is_test, choose_test_samples({SplitKind::kStratified, 0.25, 8}, classes.size(), classes));
}

TEST(TestSplit, ClassesWithRemaindersGetOneSampleMoreUntilTheShareIsReached) {
  const std::vector<std::int64_t> classes{0, 0, 0, 1, 1, 2};  // halves: 1.5, 1 and 0.5; 3 in total
  const auto is_test = choose_test_samples({SplitKind::kStratified, 0.5, 4}, classes.size(), classes);
  EXPECT_EQ(marked(is_test), 3u);
  EXPECT_EQ(static_cast<int>(is_test[3]) + static_cast<int>(is_test[4]), 1);
}

TEST(TestSplit, TestRowsMoveBehindTheOthersInOrder) {
  const std::vector<bool> is_test{true, false, false, true, false};
  std::string rows = "aabbccddee";
  move_to_end(rows, 2, is_test);
  EXPECT_EQ(rows, "bbcceeaadd");
  std::vector<int> numbers(5);
  std::iota(numbers.begin(), numbers.end(), 0);
  move_to_end(numbers, 1, is_test);
  EXPECT_EQ(numbers, (std::vector<int>{1, 2, 4, 0, 3}));
}

}  // namespace
}  // namespace cohort
