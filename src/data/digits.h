#pragma once

#include "data/batch_first.h"
#include "data/generated.h"
#include "data/standardise.h"

namespace cohort::data {

struct DigitsOptions {
  int image_size = 28;
  int classes = 10;  ///< digits 0 … classes-1
  double noise = 0;  ///< standard deviation of the noise of a pixel, before clamping to 0 … 1
  Scale scale{};     ///< applied last
};

/// Drawn digits, each with a random rotation, slant, scale, shift and thickness: f32 [1, size, size] and the
/// class.
class DigitsDataset final : public BatchFirst {
 public:
  DigitsDataset(GeneratedRange range, const DigitsOptions& options);

  std::int64_t size() const override { return range_.count; }

 private:
  Batch allocate(std::int64_t count) const override;
  void write(std::int64_t index, std::int64_t row, const Batch& into) const override;

  const GeneratedRange range_;
  const DigitsOptions options_;
};

}  // namespace cohort::data
