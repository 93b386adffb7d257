#pragma once

#include "data/batch_first.h"
#include "records/text_tokens.h"

#include <memory>
#include <string>
#include <vector>

// Data sets whose samples are held in memory.

namespace cohort::data {

enum class TargetKind { kNumber, kClass };

/// Rows of numbers, each with a target.
struct TableRecords {
  std::vector<float> inputs{};              ///< row after row
  std::vector<std::int64_t> input_shape{};  ///< shape of one row
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
  void write(std::int64_t index, std::int64_t row, const Batch& into) const override;

  const TableRecords records_;
  std::int64_t row_size_ = 1;
};

/// Tokens first … last−1 of a text; several spans may share the text.
struct TokenSpan {
  std::shared_ptr<const std::vector<records::Token>> tokens{};
  std::int64_t first = 0;
  std::int64_t last = 0;

  std::int64_t count() const { return last - first; }
};

/// How a text is cut into samples.
struct WindowShape {
  std::int64_t context = 1;  ///< tokens in a sample
  std::int64_t stride = 1;   ///< tokens from the beginning of a sample to that of the next
};

/// Windows of a text: sample i has `context` tokens from i·stride on as input, and the same moved by one
/// token as target. Tokens at the end that fill no window are left out.
///
/// Cost: two bytes of memory per token; a window is copied when a batch is made.
class TokenWindows final : public BatchFirst {
 public:
  TokenWindows(TokenSpan text, WindowShape shape);

  std::int64_t size() const override;

 private:
  Batch allocate(std::int64_t count) const override;
  void write(std::int64_t index, std::int64_t row, const Batch& into) const override;

  const TokenSpan text_;
  const WindowShape shape_;
};

}  // namespace cohort::data
