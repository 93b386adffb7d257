#include "data/token_windows.h"

#include "base/check.h"

#include <ATen/ATen.h>
#include <algorithm>

namespace cohort::data {

TokenWindows::TokenWindows(TokenSpan text, std::int64_t context) : text_(std::move(text)), context_(context) {
  COHORT_CHECK_GE(context_, 1);
  COHORT_CHECK(text_.first >= 0 && text_.first <= text_.last);
  COHORT_CHECK_LE(static_cast<std::size_t>(text_.last), text_.tokens->size());
}

std::int64_t TokenWindows::size() const {
  return std::max<std::int64_t>(0, text_.count() - context_);
}

Batch TokenWindows::allocate(std::int64_t count) const {
  return {at::empty({count, context_}, at::kLong), at::empty({count, context_}, at::kLong), {}};
}

void TokenWindows::write(std::int64_t index, std::int64_t at, const Batch& into) const {
  const records::Token* from = text_.tokens->data() + text_.first + index;
  std::copy_n(from, context_, place_in<std::int64_t>(into.input, at, context_));
  std::copy_n(from + 1, context_, place_in<std::int64_t>(into.target, at, context_));
}

}  // namespace cohort::data
