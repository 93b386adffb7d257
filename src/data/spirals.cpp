#include "data/spirals.h"

#include "base/check.h"
#include "data/unit_circle.h"

#include <ATen/ATen.h>
#include <cohort/random.h>

namespace cohort::data {
namespace {

constexpr std::uint64_t kStream = 0x73706972616C73;
constexpr double kTurns = 0.75;  // of an arm from the middle to its end

enum Position : std::uint64_t { kClass, kRadius, kNoiseX, kNoiseY };

}  // namespace

SpiralsDataset::SpiralsDataset(GeneratedRange range, int classes, double noise)
    : range_(range), classes_(classes), noise_(noise) {
  COHORT_CHECK_GE(classes, 1);
}

Batch SpiralsDataset::allocate(std::int64_t count) const {
  return {at::empty({count, 2}, at::kFloat), at::empty({count}, at::kLong), {}};
}

void SpiralsDataset::write(std::int64_t index, std::int64_t at, const Batch& into) const {
  const auto stream =
      RandomStream(range_.seed, kStream).substream(range_.first + static_cast<std::uint64_t>(index));
  const auto arm = static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(classes_), kClass));
  const double radius = stream.uniform(kRadius);
  const CirclePoint direction = unit_circle(kTurns * radius + static_cast<double>(arm) / classes_);
  auto* point = place_in<float>(into.input, at, 2);
  point[0] = static_cast<float>(radius * direction.x + noise_ * stream.normal(kNoiseX));
  point[1] = static_cast<float>(radius * direction.y + noise_ * stream.normal(kNoiseY));
  *place_in<std::int64_t>(into.target, at, 1) = arm;
}

}  // namespace cohort::data
