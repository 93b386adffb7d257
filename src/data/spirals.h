#pragma once

#include "data/batch_first.h"
#include "data/generated.h"

namespace cohort::data {

/// Points on the arms of a spiral, one arm per class, all arms within the unit circle: f32 [2] and the class.
/// The noise is normal, of the given deviation in both directions.
class SpiralsDataset final : public BatchFirst {
 public:
  SpiralsDataset(GeneratedRange range, int classes, double noise);

  std::int64_t size() const override { return range_.count; }

 private:
  Batch allocate(std::int64_t count) const override;
  void write(std::int64_t index, std::int64_t at, const Batch& into) const override;

  const GeneratedRange range_;
  const int classes_;
  const double noise_;
};

}  // namespace cohort::data
