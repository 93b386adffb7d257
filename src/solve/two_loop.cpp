#include "solve/two_loop.h"

#include <algorithm>

namespace cohort::solve {
namespace {

double yy_of(const InnerProducts& products, std::size_t i, std::size_t j) {
  return products.yy[std::min(i, j)][std::max(i, j)];
}

// The first loop: q = g − Σ αⱼ yⱼ, from the newest pair to the oldest; αᵢ = sᵢ · q / (sᵢ · yᵢ).
std::vector<double> alphas(const InnerProducts& products) {
  const std::size_t count = products.sg.size();
  std::vector<double> alpha(count);
  for (std::size_t i = count; i-- > 0;) {
    double sq = products.sg[i];
    for (std::size_t j = i + 1; j < count; ++j) sq -= alpha[j] * products.sy[i][j];
    alpha[i] = sq / products.sy[i][i];
  }
  return alpha;
}

}  // namespace

// The second loop: r = γ q + Σ (αⱼ − βⱼ) sⱼ, from the oldest pair to the newest; βᵢ = yᵢ · r / (sᵢ · yᵢ).
Combination two_loop(const InnerProducts& products) {
  const std::size_t count = products.sg.size();
  const std::vector<double> alpha = alphas(products);
  const double scale = count == 0 ? 1 : products.sy.back().back() / products.yy.back().back();
  Combination direction{.gradient = -scale, .steps = {}, .changes = {}, .slope = -scale * products.gg};
  std::vector<double> of_step(count);  // αⱼ − βⱼ
  for (std::size_t i = 0; i < count; ++i) {
    double yr = products.yg[i];
    for (std::size_t j = 0; j < count; ++j) yr -= alpha[j] * yy_of(products, i, j);
    yr *= scale;
    for (std::size_t j = 0; j < i; ++j) yr += of_step[j] * products.sy[j][i];
    of_step[i] = alpha[i] - yr / products.sy[i][i];
  }
  for (std::size_t i = 0; i < count; ++i) {
    direction.steps.push_back(-of_step[i]);
    direction.changes.push_back(scale * alpha[i]);
    direction.slope += scale * alpha[i] * products.yg[i] - of_step[i] * products.sg[i];
  }
  return direction;
}

}  // namespace cohort::solve
