#pragma once

#include "data/batch_first.h"

namespace cohort::data {

enum class TargetKind { kNumber, kClass };

/// Rows of numbers, each with a target.
struct TableRecords {
  std::vector<float> inputs{};              ///< row after row
  std::vector<std::int64_t> input_shape{};  ///< of one row
  std::vector<float> targets{};             ///< one per row
  TargetKind target_kind = TargetKind::kNumber;
};

/// Rows of numbers in memory.
class TableDataset final : public BatchFirst {
 public:
  explicit TableDataset(TableRecords records);

  std::int64_t size() const override { return static_cast<std::int64_t>(records_.targets.size()); }

 private:
  Batch allocate(std::int64_t count) const override;
  void write(std::int64_t index, std::int64_t at, const Batch& into) const override;

  const TableRecords records_;
  std::int64_t row_size_ = 1;
};

}  // namespace cohort::data
