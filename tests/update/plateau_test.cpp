#include <cohort/learning_rate_schedule.h>

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace cohort {
namespace {

using learning_rate::Plateau;

// The learning rate after each of the losses; 1 before the first.
std::vector<double> rates_after(const Plateau& plateau, const std::vector<double>& losses) {
  PlateauState state;
  std::vector<double> rates;
  for (const double loss : losses) {
    state = after_loss(plateau, state, loss);
    rates.push_back(learning_rate_at({.curve = plateau}, 1, 0, state));
  }
  return rates;
}

using Rates = std::vector<double>;

TEST(Plateau, LowersTheRateAfterMoreBadLossesThanItsPatience) {
  const Plateau plateau{.factor = 0.5, .patience = 2};
  EXPECT_EQ(rates_after(plateau, {4, 4, 4, 4, 4, 4, 4}), (Rates{1, 1, 1, 0.5, 0.5, 0.5, 0.25}));
  EXPECT_EQ(rates_after(plateau, {4, 4, 4, 3, 4, 4, 4}), (Rates{1, 1, 1, 1, 1, 1, 0.5}));
  EXPECT_EQ(rates_after({.factor = 0.5, .patience = 0}, {4, 4, 4}), (Rates{1, 0.5, 0.25}));
}

TEST(Plateau, ALossMustBeBetterByTheThreshold) {
  const Plateau relative{.factor = 0.5, .patience = 0, .threshold = 0.25};
  EXPECT_EQ(rates_after(relative, {4, 3, 2.9, 2}), (Rates{1, 0.5, 0.5, 0.5}));
  const Plateau absolute{
      .factor = 0.5, .patience = 0, .threshold = 1, .threshold_mode = Plateau::Threshold::kAbsolute};
  EXPECT_EQ(rates_after(absolute, {4, 3, 2.9, 2}), (Rates{1, 0.5, 0.5, 0.25}));
}

TEST(Plateau, DoesNotCountLossesOfTheCooldown) {
  const Plateau plateau{.factor = 0.5, .patience = 0, .cooldown = 2};
  EXPECT_EQ(rates_after(plateau, {4, 4, 4, 4, 4, 4, 4}), (Rates{1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25}));
}

TEST(Plateau, StaysAtItsLowestRate) {
  EXPECT_EQ(rates_after({.factor = 0.5, .patience = 0, .min_lr = 0.4}, {4, 4, 4, 4}),
            (Rates{1, 0.5, 0.4, 0.4}));
  EXPECT_EQ(rates_after({.factor = 0.5, .patience = 0, .min_lr = 2}, {4, 4, 4}), (Rates{1, 1, 1}))
      << "never raises it";
  EXPECT_EQ(rates_after({.factor = 0.5, .patience = 0, .eps = 0.3}, {4, 4, 4}), (Rates{1, 0.5, 0.5}));
}

TEST(Plateau, ALossThatIsNoNumberIsNotBetter) {
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(rates_after({.factor = 0.5, .patience = 0}, {nan, infinite, 4, nan}),
            (Rates{0.5, 0.25, 0.25, 0.125}));
}

TEST(Plateau, TheRateFollowsFromAnyNumberOfReductions) {
  const PlateauState state{.reductions = std::numeric_limits<std::int64_t>::max()};
  EXPECT_EQ(learning_rate_at({.curve = Plateau{.factor = 0.5, .min_lr = 0.125}}, 1, 0, state), 0.125);
  EXPECT_EQ(learning_rate_at({.curve = Plateau{.factor = 0}}, 1, 0, state), 0.0);
}

}  // namespace
}  // namespace cohort
