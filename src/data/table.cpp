#include "data/table.h"

#include "base/check.h"

#include <ATen/ATen.h>
#include <algorithm>

namespace cohort::data {

TableDataset::TableDataset(TableRecords records) : records_(std::move(records)) {
  for (std::int64_t dim : records_.input_shape) row_size_ *= dim;
  COHORT_CHECK_EQ(records_.inputs.size(), records_.targets.size() * static_cast<std::size_t>(row_size_));
}

Batch TableDataset::allocate(std::int64_t count) const {
  std::vector<std::int64_t> shape{count};
  shape.insert(shape.end(), records_.input_shape.begin(), records_.input_shape.end());
  const bool classes = records_.target_kind == TargetKind::kClass;
  return {at::empty(shape, at::kFloat),
          classes ? at::empty({count}, at::kLong) : at::empty({count, 1}, at::kFloat),
          {}};
}

void TableDataset::write(std::int64_t index, std::int64_t at, const Batch& into) const {
  std::copy_n(records_.inputs.data() + index * row_size_, row_size_,
              place_in<float>(into.input, at, row_size_));
  const float target = records_.targets[static_cast<std::size_t>(index)];
  if (records_.target_kind == TargetKind::kClass) {
    *place_in<std::int64_t>(into.target, at, 1) = static_cast<std::int64_t>(target);
  } else {
    *place_in<float>(into.target, at, 1) = target;
  }
}

}  // namespace cohort::data
