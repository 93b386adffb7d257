#include "data/points.h"

#include "base/check.h"

#include <ATen/ATen.h>
#include <cmath>
#include <cohort/random.h>

namespace cohort::data {
namespace {

constexpr std::uint64_t kSpiralStream = 0x73706972616C73;
constexpr double kTurnsOfAnArm = 0.75;  // from the middle to its end

// Positions in the random stream of a sample.
enum SpiralNumber : std::uint64_t { kArm, kRadius, kNoiseX, kNoiseY };

constexpr std::uint64_t kRegressionStream = 0x726567726573;
constexpr std::uint64_t kLinearLawStream = 0x6C6177;

}  // namespace

CirclePoint unit_circle(double turns) {
  const double part = turns - std::floor(turns);
  const double quarter = std::floor(part * 4 + 0.5);
  const double angle = (part - quarter / 4) * 6.283185307179586;  // within an eighth of a turn of an axis
  const double square = angle * angle;
  double cosine = 1, sine = 1;
  for (int term = 18; term >= 2; term -= 2) {
    cosine = 1 - cosine * square / ((term - 1) * term);
    sine = 1 - sine * square / (term * (term + 1));
  }
  sine *= angle;
  switch (static_cast<int>(quarter) % 4) {
    case 0:
      return {cosine, sine};
    case 1:
      return {-sine, cosine};
    case 2:
      return {-cosine, -sine};
    default:
      return {sine, -cosine};
  }
}

SpiralsDataset::SpiralsDataset(GeneratedRange range, int classes, double noise)
    : range_(range), classes_(classes), noise_(noise) {
  COHORT_CHECK_GE(classes, 1);
}

Batch SpiralsDataset::allocate(std::int64_t count) const {
  return {at::empty({count, 2}, at::kFloat), at::empty({count}, at::kLong), {}};
}

void SpiralsDataset::write(std::int64_t index, std::int64_t row, const Batch& into) const {
  const auto stream =
      RandomStream(range_.seed, kSpiralStream).substream(range_.first + static_cast<std::uint64_t>(index));
  const auto arm = static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(classes_), kArm));
  const double radius = stream.uniform(kRadius);
  const CirclePoint direction = unit_circle(kTurnsOfAnArm * radius + static_cast<double>(arm) / classes_);
  auto* point = row_of<float>(into.input, row, 2);
  point[0] = static_cast<float>(radius * direction.x + noise_ * stream.normal(kNoiseX));
  point[1] = static_cast<float>(radius * direction.y + noise_ * stream.normal(kNoiseY));
  *row_of<std::int64_t>(into.target, row, 1) = arm;
}

RegressionDataset::RegressionDataset(GeneratedRange range, int features, double noise)
    : range_(range), noise_(noise), bias_(0) {
  COHORT_CHECK_GE(features, 1);
  const RandomStream law(range_.seed, kLinearLawStream);
  bias_ = law.normal(0);
  for (int i = 0; i < features; ++i) weights_.push_back(law.normal(static_cast<std::uint64_t>(i) + 1));
}

Batch RegressionDataset::allocate(std::int64_t count) const {
  return {at::empty({count, static_cast<std::int64_t>(weights_.size())}, at::kFloat),
          at::empty({count, 1}, at::kFloat),
          {}};
}

void RegressionDataset::write(std::int64_t index, std::int64_t row, const Batch& into) const {
  const auto stream = RandomStream(range_.seed, kRegressionStream)
                          .substream(range_.first + static_cast<std::uint64_t>(index));
  auto* input = row_of<float>(into.input, row, static_cast<std::int64_t>(weights_.size()));
  double sum = bias_ + noise_ * stream.normal(0);
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    input[i] = static_cast<float>(stream.normal(i + 1));
    sum += weights_[i] * static_cast<double>(input[i]);
  }
  *row_of<float>(into.target, row, 1) = static_cast<float>(sum);
}

}  // namespace cohort::data
