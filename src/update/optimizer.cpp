#include "update/optimizer.h"

#include "base/check.h"
#include "update/kernels.h"

#include <algorithm>
#include <array>

namespace cohort {
namespace {

// The smallest number of elements for which another thread pays.
constexpr std::size_t kGrain = 16384;

template <class T>
T* moved(T* span, std::size_t by) {
  return span == nullptr ? nullptr : span + by;
}

void check(const OptimizerSettings& settings, const UpdateStep& step, const UpdateSpans& spans) {
  COHORT_CHECK_GE(step.count, 1, "updates count from 1");
  if (spans.count == 0) return;
  COHORT_CHECK(spans.parameters != nullptr && spans.gradients != nullptr);
  COHORT_CHECK((spans.first != nullptr) == (num_moments(settings) >= 1), "of {}", name(settings.kind));
  COHORT_CHECK((spans.second != nullptr) == (num_moments(settings) >= 2), "of {}", name(settings.kind));
}

}  // namespace

std::string_view name(OptimizerKind kind) {
  constexpr std::string_view kNames[] = {"sgd", "adam", "adamw"};
  return kNames[static_cast<std::size_t>(kind)];
}

int num_moments(const OptimizerSettings& settings) {
  if (settings.kind != OptimizerKind::kSgd) return 2;
  return update::momentum_of(settings) == update::Momentum::kNone ? 0 : 1;
}

UpdateSpans UpdateSpans::subspan(std::size_t from, std::size_t length) const {
  COHORT_CHECK(from <= count && length <= count - from, "[{}, +{}) of {}", from, length, count);
  return {.parameters = moved(parameters, from),
          .gradients = moved(gradients, from),
          .first = moved(first, from),
          .second = moved(second, from),
          .count = length};
}

void apply(const OptimizerSettings& settings, const UpdateStep& step, const UpdateSpans& spans) {
  apply(settings, step, spans, SerialLoop());
}

void apply(const OptimizerSettings& settings, const UpdateStep& step, const UpdateSpans& spans,
           const Parallel& parallel) {
  check(settings, step, spans);
  const update::Coefficients coefficients = update::coefficients(settings, step);
  const auto decay = coefficients.decay == 0 ? update::Decay::kNone : update::Decay::kOfGradient;
  const update::Kernels::Update kernel =
      update::kernels_of(update::best_set()).update({settings.kind, update::momentum_of(settings), decay});
  parallel.run(spans.count, kGrain, [&](std::size_t first, std::size_t last) {
    kernel(coefficients, spans.subspan(first, last - first));
  });
}

void add_squares(std::span<const float> values, ExactSum& sum) {
  constexpr std::size_t kBlock = update::kSquareBlock;
  const auto kernel = update::kernels_of(update::best_set()).square_sums;
  std::array<double, 256> sums;
  std::size_t done = 0;
  while (values.size() - done >= kBlock) {
    const std::size_t num_blocks = std::min((values.size() - done) / kBlock, sums.size());
    kernel(values.data() + done, num_blocks, sums.data());
    for (std::size_t i = 0; i < num_blocks; ++i) sum.add(sums[i]);
    done += num_blocks * kBlock;
  }
  if (done == values.size()) return;
  std::array<float, kBlock> rest{};
  std::copy(values.begin() + static_cast<std::ptrdiff_t>(done), values.end(), rest.begin());
  kernel(rest.data(), 1, sums.data());
  sum.add(sums[0]);
}

}  // namespace cohort
