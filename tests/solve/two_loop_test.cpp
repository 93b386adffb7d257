#include "solve/two_loop.h"

#include "solve/history.h"

#include <gtest/gtest.h>
#include <random>

namespace cohort::solve {
namespace {

using Dense = std::vector<double>;

double product(const Dense& a, const Dense& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void add(Dense& to, double factor, const Dense& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
}

// The recursion as textbooks have it, on vectors.
Dense textbook(const std::vector<Dense>& s, const std::vector<Dense>& y, Dense q) {
  std::vector<double> alpha(s.size());
  for (std::size_t i = s.size(); i-- > 0;) {
    alpha[i] = product(s[i], q) / product(s[i], y[i]);
    add(q, -alpha[i], y[i]);
  }
  if (!s.empty()) {
    for (double& each : q) each *= product(s.back(), y.back()) / product(y.back(), y.back());
  }
  for (std::size_t i = 0; i < s.size(); ++i) {
    add(q, alpha[i] - product(y[i], q) / product(s[i], y[i]), s[i]);
  }
  for (double& each : q) each = -each;
  return q;
}

class Pairs {
 public:
  Dense draw(std::size_t size) {
    Dense vector;
    for (std::size_t i = 0; i < size; ++i) vector.push_back(normal_(random_));
    return vector;
  }
  /// A step, and the change of the gradient of a quadratic function in it.
  std::pair<Dense, Dense> next(std::size_t size) {
    std::pair<Dense, Dense> pair{draw(size), {}};
    for (std::size_t i = 0; i < size; ++i) {
      pair.second.push_back(pair.first[i] * (1 + static_cast<double>(i % 7)));
    }
    return pair;
  }

 private:
  std::mt19937_64 random_{3};
  std::normal_distribution<double> normal_;
};

TEST(TwoLoop, IsThatOfTextbooksHoweverManyPairsThereWere) {
  constexpr std::size_t kSize = 37;
  constexpr int kHistory = 4;
  Pairs pairs;
  OneRank alone;
  History history(kHistory, kSize, DType::kF64);
  std::vector<Dense> s, y;
  for (int round = 0; round < 11; ++round) {
    const Dense gradient = pairs.draw(kSize);
    if (round == 0) {
      value_or_throw(history.begin(gradient, alone, {}));
    } else {
      auto [step, change] = pairs.next(kSize);
      copy(step, history.next_step());
      copy(change, history.next_change());
      value_or_throw(history.add(gradient, alone, {}));
      s.push_back(step);
      y.push_back(change);
      if (s.size() > kHistory) s.erase(s.begin()), y.erase(y.begin());
    }
    ASSERT_EQ(history.num_pairs(), s.size());
    const Combination direction = history.direction();
    Dense found(kSize);
    history.add_up(direction, gradient, found);
    const Dense expected = textbook(s, y, gradient);
    for (std::size_t i = 0; i < kSize; ++i) EXPECT_NEAR(found[i], expected[i], 1e-12) << round;
    EXPECT_NEAR(direction.slope, product(expected, gradient), 1e-10) << round;
  }
}

TEST(TwoLoop, APairWithoutCurvatureIsDropped) {
  Pairs pairs;
  OneRank alone;
  History history(2, 5, DType::kF64);
  const Dense gradient = pairs.draw(5);
  value_or_throw(history.begin(gradient, alone, {}));
  const auto add_pair = [&](double sign) {
    auto [step, change] = pairs.next(5);
    for (double& each : change) each *= sign;
    copy(step, history.next_step());
    copy(change, history.next_change());
    value_or_throw(history.add(gradient, alone, {}));
  };
  add_pair(-1);
  EXPECT_EQ(history.num_pairs(), 0u);
  add_pair(0);
  EXPECT_EQ(history.num_pairs(), 0u);
  add_pair(1);
  add_pair(1);
  EXPECT_EQ(history.num_pairs(), 2u);
  add_pair(-1);
  EXPECT_EQ(history.num_pairs(), 1u) << "the oldest pair was overwritten";
  Dense found(5);
  history.add_up(history.direction(), gradient, found);
  EXPECT_LT(product(found, gradient), 0);
}

TEST(TwoLoop, WithoutPairsItIsSteepestDescent) {
  InnerProducts none(0);
  none.gg = 9;
  const Combination direction = two_loop(none);
  EXPECT_EQ(direction.gradient, -1);
  EXPECT_EQ(direction.slope, -9);
}

}  // namespace
}  // namespace cohort::solve
