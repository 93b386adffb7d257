#include "layout/slice.h"

#include "layout/random_slices.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

namespace cohort::test {
namespace {

constexpr std::size_t kNothing = ~std::size_t{0};

using SomeRuns = std::vector<Run>;  // inside of a test, Run is a method of testing::Test

// Copies along the runs, element by element; no element of the result is written twice.
std::vector<std::size_t> copied(const std::vector<Run>& found, const std::vector<std::size_t>& from,
                                std::size_t count) {
  std::vector<std::size_t> to(count, kNothing);
  for (const Run& run : found) {
    for (std::size_t i = 0; i < run.count; ++i) {
      EXPECT_EQ(to.at(run.to + i), kNothing) << "written twice";
      to.at(run.to + i) = from.at(run.from + i);
    }
  }
  return to;
}

// The elements of `want` that `have` has; kNothing for the others.
std::vector<std::size_t> expected(const std::vector<std::size_t>& have, std::vector<std::size_t> want) {
  for (std::size_t& element : want) {
    if (std::find(have.begin(), have.end(), element) == have.end()) element = kNothing;
  }
  return want;
}

TEST(Slice, IsBoxesLaidEndToEndAndARangeOfThem) {
  const Shape shape = {4, 6};
  EXPECT_EQ(elements_of(shape, {.boxes = {{{0, 0}, {4, 6}}}, .first = 8, .count = 3}),
            (std::vector<std::size_t>{8, 9, 10}));
  EXPECT_EQ(elements_of(shape, {.boxes = {{{0, 2}, {4, 2}}}, .first = 4, .count = 4}),
            (std::vector<std::size_t>{14, 15, 20, 21}));
  EXPECT_EQ(elements_of(shape, {.boxes = {{{3, 0}, {1, 2}}, {{0, 0}, {1, 2}}}, .first = 1, .count = 2}),
            (std::vector<std::size_t>{19, 0}));
}

TEST(Runs, OfWholeTensorsAreOne) {
  const Shape shape = {2, 3, 4};
  EXPECT_EQ(runs(whole(shape), whole(shape)), (SomeRuns{{0, 0, 24}}));
  EXPECT_EQ(runs(flat_range(shape, 3, 10), flat_range(shape, 7, 17)), (SomeRuns{{4, 0, 6}}));
  EXPECT_EQ(runs(flat_range(shape, 0, 7), flat_range(shape, 7, 5)), SomeRuns{});
}

TEST(Runs, OfColumnsAreRows) {
  const Slice left{.boxes = {{{0, 0}, {3, 2}}}, .first = 0, .count = 6};
  EXPECT_EQ(runs(whole({3, 4}), left), (SomeRuns{{0, 0, 2}, {4, 2, 2}, {8, 4, 2}}));
  EXPECT_EQ(runs(left, flat_range({3, 4}, 5, 4)), (SomeRuns{{3, 0, 1}, {4, 3, 1}}));
  const Slice upper{.boxes = {{{0, 0}, {2, 4}}}, .first = 0, .count = 8};
  EXPECT_EQ(runs(whole({3, 4}), upper), (SomeRuns{{0, 0, 8}})) << "whole rows are side by side";
}

TEST(Runs, OfAScalarAndOfNothing) {
  EXPECT_EQ(runs(whole({}), whole({})), (SomeRuns{{0, 0, 1}}));
  EXPECT_EQ(runs(whole({0}), whole({0})), SomeRuns{});
  EXPECT_EQ(runs(whole({3, 0, 2}), whole({3, 0, 2})), SomeRuns{});
  EXPECT_EQ(runs({}, whole({3})), SomeRuns{});
}

// A face of a cube of 2^60 elements has 2^40 rows, of which a short range is wanted: visiting the others
// would take days.
TEST(Runs, CostAsMuchAsThereAreRuns) {
  const std::size_t side = std::size_t{1} << 20, rows = side * side;
  const Slice face{.boxes = {{{0, 0, 7}, {side, side, 1}}}, .first = rows / 2, .count = 3};
  const auto found = runs(whole({side, side, side}), face);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[2], (cohort::Run{(rows / 2 + 2) * side + 7, 2, 1}));
}

TEST(Runs, AreThoseOfBruteForce) {
  Dice dice(1);
  for (int i = 0; i < 20000; ++i) {
    const Shape shape = dice.shape();
    const Slice have = dice.slice(shape), want = dice.slice(shape);
    const auto from = elements_of(shape, have), to = elements_of(shape, want);
    const SomeRuns found = runs(have, want);
    ASSERT_EQ(copied(found, from, to.size()), expected(from, to)) << text_of(have) << " to " << text_of(want);
    for (std::size_t r = 0; r + 1 < found.size(); ++r) {
      const bool could_be_one = found[r].from + found[r].count == found[r + 1].from &&
                                found[r].to + found[r].count == found[r + 1].to;
      ASSERT_FALSE(could_be_one) << text_of(have) << " to " << text_of(want);
    }
  }
}

TEST(Cover, TakesEveryElementFromTheFirstThatHasIt) {
  Dice dice(2);
  for (int i = 0; i < 5000; ++i) {
    const Shape shape = dice.shape();
    std::vector<Slice> have(dice.below(5));
    for (Slice& slice : have) slice = dice.slice(shape);
    const Slice want = dice.slice(shape);
    const auto wanted = elements_of(shape, want);
    std::vector<std::size_t> first(wanted.size(), kNothing), found = first;
    for (std::size_t s = have.size(); s-- > 0;) {
      const auto held = elements_of(shape, have[s]);
      for (std::size_t e = 0; e < wanted.size(); ++e) {
        if (std::find(held.begin(), held.end(), wanted[e]) != held.end()) first[e] = s;
      }
    }
    const Cover covered = cover(have, want);
    for (const SourceRun& part : covered.parts) {
      const auto held = elements_of(shape, have[part.source]);
      for (std::size_t e = 0; e < part.run.count; ++e) {
        ASSERT_EQ(found.at(part.run.to + e), kNothing) << "taken twice";
        found[part.run.to + e] = part.source;
        ASSERT_EQ(held.at(part.run.from + e), wanted.at(part.run.to + e));
      }
    }
    ASSERT_EQ(found, first);
    std::size_t num_missing = 0;
    for (const Gap& range : covered.missing) {
      ASSERT_GT(range.count, 0u);
      for (std::size_t e = range.first; e < range.first + range.count; ++e) ASSERT_EQ(first.at(e), kNothing);
      num_missing += range.count;
    }
    ASSERT_EQ(num_missing, static_cast<std::size_t>(std::count(first.begin(), first.end(), kNothing)));
  }
}

// As the rows of a difference that changed here and there, followed by the whole tensor.
TEST(Cover, TakesScatteredSlicesOneByOne) {
  constexpr std::size_t kRows = 200'000;
  const Shape shape = {kRows, 3};
  std::vector<Slice> have;
  for (std::size_t row = 0; row < kRows; row += 2) have.push_back(flat_range(shape, 3 * row, 3));
  have.push_back(whole(shape));
  const Cover covered = cover(have, whole(shape));
  EXPECT_TRUE(covered.missing.empty());
  ASSERT_EQ(covered.parts.size(), kRows);
  EXPECT_EQ(covered.parts.front(), (SourceRun{0, {0, 0, 3}}));
  EXPECT_EQ(covered.parts.back(), (SourceRun{kRows / 2, {3 * (kRows - 1), 3 * (kRows - 1), 3}}));
}

// The slices of all ranks of any world together cover what any rank of any other world wants, exactly.
TEST(Cover, LeadsFromAnyWorldToAnyWorld) {
  Dice dice(3);
  for (std::size_t n = 1; n <= 8; ++n) {
    for (std::size_t m = 1; m <= 8; ++m) {
      for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{7}, Shape{5, 3}, Shape{8, 4, 2}}) {
        const auto before = dice.shared_by(n, shape), after = dice.shared_by(m, shape);
        std::size_t count = 0;
        for (const Slice& want : after) {
          ASSERT_TRUE(check_slice(shape, want));
          const Cover covered = cover(before, want);
          ASSERT_TRUE(covered.missing.empty()) << n << " to " << m << ": " << text_of(want);
          for (const SourceRun& part : covered.parts) count += part.run.count;
        }
        ASSERT_EQ(count, num_elements(shape)) << n << " to " << m;
      }
    }
  }
}

TEST(CheckSlice, RefusesBoxesAndRangesThatDoNotFit) {
  const Shape shape = {3, 4};
  EXPECT_TRUE(check_slice(shape, whole(shape)));
  EXPECT_TRUE(check_slice(shape, {.boxes = {{{3, 0}, {0, 4}}}, .first = 0, .count = 0}));
  const std::size_t most = ~std::size_t{0};
  for (const Slice& wrong : {Slice{.boxes = {{{1, 0}, {3, 4}}}, .first = 0, .count = 1},
                             Slice{.boxes = {{{0}, {3}}}, .first = 0, .count = 1},
                             Slice{.boxes = {{{0, most}, {3, 2}}}, .first = 0, .count = 1},
                             Slice{.boxes = {{{0, 0}, {2, 2}}}, .first = 1, .count = 4},
                             Slice{.boxes = {{{0, 0}, {2, 2}}}, .first = 5, .count = 0},
                             Slice{.boxes = {{{0, 0}, {2, 2}}}, .first = 2, .count = most},
                             Slice{.boxes = {}, .first = 0, .count = 1}}) {
    const Status status = check_slice(shape, wrong);
    ASSERT_FALSE(status) << text_of(wrong);
    EXPECT_EQ(status.error().code(), ErrorCode::kUsage);
  }
}

}  // namespace
}  // namespace cohort::test
