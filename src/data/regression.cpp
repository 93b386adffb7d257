#include "data/regression.h"

#include "base/check.h"

#include <ATen/ATen.h>
#include <cohort/random.h>

namespace cohort::data {
namespace {

constexpr std::uint64_t kSampleStream = 0x726567726573;
constexpr std::uint64_t kLawStream = 0x6C6177;

}  // namespace

RegressionDataset::RegressionDataset(GeneratedRange range, int features, double noise)
    : range_(range), noise_(noise), bias_(0) {
  COHORT_CHECK_GE(features, 1);
  const RandomStream law(range_.seed, kLawStream);
  bias_ = law.normal(0);
  for (int i = 0; i < features; ++i) weights_.push_back(law.normal(static_cast<std::uint64_t>(i) + 1));
}

Batch RegressionDataset::allocate(std::int64_t count) const {
  return {at::empty({count, static_cast<std::int64_t>(weights_.size())}, at::kFloat),
          at::empty({count, 1}, at::kFloat),
          {}};
}

void RegressionDataset::write(std::int64_t index, std::int64_t at, const Batch& into) const {
  const auto stream =
      RandomStream(range_.seed, kSampleStream).substream(range_.first + static_cast<std::uint64_t>(index));
  auto* input = place_in<float>(into.input, at, static_cast<std::int64_t>(weights_.size()));
  double sum = bias_ + noise_ * stream.normal(0);
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    input[i] = static_cast<float>(stream.normal(i + 1));
    sum += weights_[i] * static_cast<double>(input[i]);
  }
  *place_in<float>(into.target, at, 1) = static_cast<float>(sum);
}

}  // namespace cohort::data
