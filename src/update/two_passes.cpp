#include "update/two_passes.h"

#include "base/check.h"
#include "update/kernels.h"

#include <algorithm>
#include <cmath>

namespace cohort {
namespace {

// Lamb and lars adapt the learning rate of matrices only; biases and gains keep that of the settings.
bool adapts_matrices(OptimizerKind kind) {
  return kind == OptimizerKind::kLamb || kind == OptimizerKind::kLars;
}

double factor_of_lars(const OptimizerSettings& settings, double parameters, double gradients) {
  if (parameters == 0 || gradients == 0) return 1;
  const OptimizerSettings whole = with_defaults(settings);
  return whole.trust_coefficient * parameters / (gradients + whole.weight_decay * parameters + *whole.eps);
}

double factor_of_muon(const OptimizerSettings& settings, const Shape& shape) {
  const auto rows = static_cast<double>(shape.front());
  const double columns = static_cast<double>(num_elements_of(shape)) / std::max(rows, 1.0);
  if (settings.match_rms_adamw) return 0.2 * std::sqrt(std::max(rows, columns));
  return columns == 0 ? 1 : std::sqrt(std::max(1.0, rows / columns));
}

}  // namespace

namespace update {

bool has_two_passes(const OptimizerSettings& settings) {
  return rule_of(settings.kind).first_pass != nullptr;
}

Needs needs_of(const OptimizerSettings& settings, const Shape& shape) {
  if (adapts_matrices(settings.kind) && shape.size() < 2) return Needs::kElements;
  return rule_of(settings.kind).needs;
}

}  // namespace update

std::size_t num_elements_of(const Shape& shape) {
  std::size_t count = 1;
  for (const std::size_t length : shape) count *= length;
  return count;
}

OptimizerSettings optimizer_for(const OptimizerSettings& settings, const Shape& shape) {
  if (settings.kind != OptimizerKind::kMuon || shape.size() >= 2) return settings;
  return with_defaults({.kind = OptimizerKind::kAdamW,
                        .learning_rate = settings.fallback_learning_rate.value_or(learning_rate_of(settings)),
                        .betas = settings.fallback_betas,
                        .eps = settings.fallback_eps,
                        .weight_decay = settings.weight_decay,
                        .maximize = settings.maximize});
}

void TensorSums::add(const TensorSums& other) {
  parameters.add(other.parameters);
  directions.add(other.directions);
}

// Block by block, so that squares are added while a block is in the cache. Blocks are multiples of 16.
void first_pass(const OptimizerSettings& settings, const UpdateStep& step, const UpdateSpans& spans,
                TensorSums* sums) {
  constexpr std::size_t kBlock = 2048;
  COHORT_CHECK(spans.directions != nullptr || spans.parameters.count == 0);
  const update::Coefficients coefficients = update::coefficients(settings, step);
  const update::Kernel kernel = update::rule_of(settings.kind).first_pass(update::variant_of(settings));
  for (std::size_t first = 0; first < spans.parameters.count; first += kBlock) {
    const std::size_t count = std::min(kBlock, spans.parameters.count - first);
    UpdateSpans part = spans.subspan(first, count);
    if (part.master != nullptr) part.parameters = {part.master, count, DType::kF32};
    kernel(coefficients, part);
    if (sums == nullptr) continue;
    add_squares({reinterpret_cast<const float*>(part.parameters.data), count}, sums->parameters);
    add_squares({part.directions, count}, sums->directions);
  }
}

double tensor_factor(const OptimizerSettings& settings, const Shape& shape, const TensorSums& sums) {
  if (settings.kind == OptimizerKind::kMuon) return factor_of_muon(settings, shape);
  if (!adapts_matrices(settings.kind) || shape.size() < 2) return 1;
  const double parameters = std::sqrt(sums.parameters.value());
  const double directions = std::sqrt(sums.directions.value());
  if (settings.kind == OptimizerKind::kLars) return factor_of_lars(settings, parameters, directions);
  return parameters == 0 || directions == 0 ? 1 : parameters / directions;
}

}  // namespace cohort
