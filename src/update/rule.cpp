#include "update/rule.h"

#include "base/check.h"
#include "update/kernels.h"

namespace cohort {
namespace {

// As many elements of each span as are worth the way to another thread.
constexpr std::size_t kGrain = 16384;

float* moved(float* span, std::size_t by) {
  return span == nullptr ? nullptr : span + by;
}

void check(const Rule& rule, const UpdateStep& step, const UpdateSpans& spans) {
  COHORT_CHECK_GE(step.count, 1, "updates count from 1");
  if (spans.count == 0) return;
  COHORT_CHECK(spans.parameters != nullptr && spans.gradients != nullptr);
  COHORT_CHECK((spans.first != nullptr) == (num_moments(rule.kind) >= 1), "of rule {}", name(rule.kind));
  COHORT_CHECK((spans.second != nullptr) == (num_moments(rule.kind) >= 2), "of rule {}", name(rule.kind));
}

}  // namespace

std::string_view name(RuleKind kind) {
  constexpr std::string_view kNames[] = {"sgd", "momentum", "nesterov", "adam", "adamw"};
  return kNames[static_cast<std::size_t>(kind)];
}

int num_moments(RuleKind kind) {
  constexpr int kNumbers[] = {0, 1, 1, 2, 2};
  return kNumbers[static_cast<std::size_t>(kind)];
}

UpdateSpans UpdateSpans::subspan(std::size_t from, std::size_t length) const {
  COHORT_CHECK(from <= count && length <= count - from, "[{}, +{}) of {}", from, length, count);
  return {.parameters = moved(parameters, from),
          .gradients = moved(gradients, from),
          .first = moved(first, from),
          .second = moved(second, from),
          .count = length};
}

void apply(const Rule& rule, const UpdateStep& step, const UpdateSpans& spans) {
  apply(rule, step, spans, SerialLoop());
}

void apply(const Rule& rule, const UpdateStep& step, const UpdateSpans& spans, const Parallel& parallel) {
  check(rule, step, spans);
  const update::Coefficients coefficients = update::coefficients(rule, step);
  const auto decay = coefficients.decay == 0 ? update::Decay::kNone : update::Decay::kOfGradient;
  const update::Kernels::Update kernel =
      update::kernels_of(update::best_set()).update({rule.kind, decay, step.gradient});
  parallel.run(spans.count, kGrain, [&](std::size_t first, std::size_t last) {
    kernel(coefficients, spans.subspan(first, last - first));
  });
}

double square_sum(std::span<const float> values) {
  return update::kernels_of(update::best_set()).square_sum(values.data(), values.size());
}

double clip_scale(double norm, double max_norm) {
  // The small number keeps the quotient finite for a norm of 0.
  constexpr double kNothing = 1e-6;
  const double scale = max_norm / (norm + kNothing);
  return scale > 1 ? 1 : scale;  // a NaN stays one
}

}  // namespace cohort
