#include "data/records_in_memory.h"

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

void TableDataset::write(std::int64_t index, std::int64_t row, const Batch& into) const {
  std::copy_n(records_.inputs.data() + index * row_size_, row_size_,
              row_of<float>(into.input, row, row_size_));
  const float target = records_.targets[static_cast<std::size_t>(index)];
  if (records_.target_kind == TargetKind::kClass) {
    *row_of<std::int64_t>(into.target, row, 1) = static_cast<std::int64_t>(target);
  } else {
    *row_of<float>(into.target, row, 1) = target;
  }
}

TokenWindows::TokenWindows(TokenSpan text, WindowShape shape) : text_(std::move(text)), shape_(shape) {
  COHORT_CHECK_GE(shape_.context, 1);
  COHORT_CHECK_GE(shape_.stride, 1);
  COHORT_CHECK(text_.first >= 0 && text_.first <= text_.last);
  COHORT_CHECK_LE(static_cast<std::size_t>(text_.last), text_.tokens->size());
}

std::int64_t TokenWindows::size() const {
  const std::int64_t beginnings = text_.count() - shape_.context;  // the target needs one token more
  return beginnings <= 0 ? 0 : (beginnings - 1) / shape_.stride + 1;
}

Batch TokenWindows::allocate(std::int64_t count) const {
  return {at::empty({count, shape_.context}, at::kLong), at::empty({count, shape_.context}, at::kLong), {}};
}

void TokenWindows::write(std::int64_t index, std::int64_t row, const Batch& into) const {
  const std::int64_t context = shape_.context;
  const records::Token* from = text_.tokens->data() + text_.first + index * shape_.stride;
  std::copy_n(from, context, row_of<std::int64_t>(into.input, row, context));
  std::copy_n(from + 1, context, row_of<std::int64_t>(into.target, row, context));
}

}  // namespace cohort::data
