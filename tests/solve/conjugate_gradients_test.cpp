#include "solve/conjugate_gradients.h"
#include "problems.h"

#include <gtest/gtest.h>

namespace cohort::solve {
namespace {

using Matrix = std::vector<std::vector<double>>;

// Bᵀ B + a small diagonal, so that all curvature is above 0.
Matrix positive_matrix(std::size_t size) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  Matrix b(size, std::vector<double>(size)), product = b;
  for (auto& row : b) {
    for (double& each : row) each = normal(random);
  }
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      for (std::size_t k = 0; k < size; ++k) product[i][j] += b[k][i] * b[k][j];
    }
    product[i][i] += 0.1;
  }
  return product;
}

std::vector<double> times(const Matrix& matrix, const std::vector<double>& vector) {
  std::vector<double> product(vector.size());
  for (std::size_t i = 0; i < vector.size(); ++i) {
    for (std::size_t j = 0; j < vector.size(); ++j) product[i] += matrix[i][j] * vector[j];
  }
  return product;
}

double square(const std::vector<double>& vector) {
  double sum = 0;
  for (const double each : vector) sum += each * each;
  return sum;
}

struct CgResult {
  std::vector<double> solution{};
  int products = 0;
  double damping = 0;
};

CgResult solve_by_cg(const Matrix& matrix, const std::vector<double>& gradient, Damping damping,
                     CgLimits limits) {
  OneRank alone;
  ConjugateGradients cg(gradient.size(), DType::kF64);
  cg.begin(std::span(gradient), square(gradient), damping, limits);
  CgResult result;
  for (; !cg.is_done(); ++result.products) {
    const std::vector<double> product = times(matrix, test::values(cg.direction()));
    value_or_throw(cg.tell(std::span(product), alone));
  }
  result.solution = test::values(cg.solution());
  result.damping = cg.damping();
  return result;
}

// |(A + d) x + gradient|, relative to the gradient.
double residual_of(const Matrix& matrix, const CgResult& result, const std::vector<double>& gradient) {
  std::vector<double> sum = times(matrix, result.solution);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += result.damping * result.solution[i] + gradient[i];
  return std::sqrt(square(sum) / square(gradient));
}

TEST(ConjugateGradients, SolvesTheEquations) {
  for (const std::size_t size : std::vector<std::size_t>{1, 2, 7, 16, 31}) {
    const Matrix matrix = positive_matrix(size);
    std::vector<double> gradient(size);
    for (std::size_t i = 0; i < size; ++i) gradient[i] = static_cast<double>(i) - 2.5;
    for (const double damping : {0.0, 3.0}) {
      const CgResult result =
          solve_by_cg(matrix, gradient, {.amount = damping}, {.residual = 1e-12, .products = 1000});
      EXPECT_LT(residual_of(matrix, result, gradient), 1e-10) << size;
      EXPECT_EQ(result.damping, damping);
    }
  }
}

TEST(ConjugateGradients, EndsWhenTheResidualIsSmallOrTheProductsAreUsedUp) {
  const Matrix matrix = positive_matrix(30);
  const std::vector<double> gradient(30, 1.0);
  const CgResult rough = solve_by_cg(matrix, gradient, {}, {.residual = 0.5, .products = 1000});
  const CgResult fine = solve_by_cg(matrix, gradient, {}, {.residual = 1e-8, .products = 1000});
  EXPECT_LE(residual_of(matrix, rough, gradient), 0.5);
  EXPECT_LE(residual_of(matrix, fine, gradient), 1.01e-8);
  EXPECT_LT(rough.products, fine.products);
  EXPECT_EQ(solve_by_cg(matrix, gradient, {}, {.residual = 1e-8, .products = 3}).products, 3);
}

TEST(ConjugateGradients, TakesTheDampingFromTheCurvatureAlongTheGradient) {
  const Matrix matrix{{4, 0}, {0, 1}};
  const CgResult result =
      solve_by_cg(matrix, {1, 0}, {.of_curvature = 0.25}, {.residual = 1e-12, .products = 10});
  EXPECT_EQ(result.damping, 1);
  EXPECT_DOUBLE_EQ(result.solution[0], -0.2);
}

TEST(ConjugateGradients, EndsWithoutCurvatureAndWithoutAGradient) {
  const Matrix flat{{0, 0}, {0, 0}};
  const CgResult result = solve_by_cg(flat, {1, 2}, {}, {});
  EXPECT_EQ(result.products, 1);
  EXPECT_EQ(result.solution, std::vector<double>(2));
  EXPECT_EQ(solve_by_cg(positive_matrix(2), {0, 0}, {}, {}).products, 0);
  EXPECT_EQ(solve_by_cg({}, {}, {}, {}).products, 0);
}

}  // namespace
}  // namespace cohort::solve
