#pragma once

#include "data/batch_first.h"
#include "records/text_tokens.h"

#include <memory>

namespace cohort::data {

/// A part of a text, shared with those who look at other parts of it.
struct TokenSpan {
  std::shared_ptr<const std::vector<records::Token>> tokens{};
  std::int64_t first = 0;
  std::int64_t last = 0;

  std::int64_t count() const { return last - first; }
};

/// Every window of `context` tokens of a text: sample i has tokens i … i+context-1 as input, and those one
/// further as target.
///
/// Cost: two bytes per token; windows overlap and are made when asked for.
class TokenWindows final : public BatchFirst {
 public:
  TokenWindows(TokenSpan text, std::int64_t context);

  std::int64_t size() const override;

 private:
  Batch allocate(std::int64_t count) const override;
  void write(std::int64_t index, std::int64_t at, const Batch& into) const override;

  const TokenSpan text_;
  const std::int64_t context_;
};

}  // namespace cohort::data
