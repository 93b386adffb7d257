#include "update/post_step.h"

#include "base/check.h"
#include "update/average.h"
#include "update/mask.h"

#include <algorithm>

namespace cohort::update {
namespace {

// Five arrays of this many floats fit into the cache of a core.
constexpr std::size_t kPostBlock = 8192;

void hold_parameters(const UpdateSpans& spans, const float* mask) {
  const Numbers& values = spans.parameters;
  if (values.dtype == DType::kBF16) {
    hold_at_zero(mask, reinterpret_cast<std::uint16_t*>(values.data), values.count);
  } else {
    COHORT_CHECK(values.dtype == DType::kF32, "{}", name(values.dtype));
    hold_at_zero(mask, reinterpret_cast<float*>(values.data), values.count);
  }
}

}  // namespace

void post_step(const UpdateSpans& spans, const PostSpans& post, double share) {
  const std::size_t count = spans.parameters.count;
  if (count == 0) return;
  if (post.mask != nullptr) {
    hold_parameters(spans, post.mask);
    if (spans.master != nullptr) hold_at_zero(post.mask, spans.master, count);
    for (float* const moment : spans.moments) {
      if (moment != nullptr) hold_at_zero(post.mask, moment, count);
    }
  }
  if (post.average == nullptr || share == 0) return;
  const float* const exact =
      spans.master != nullptr ? spans.master : reinterpret_cast<const float*>(spans.parameters.data);
  COHORT_CHECK(spans.master != nullptr || spans.parameters.dtype == DType::kF32);
  add_to_average(exact, post.average, count, share);
}

void apply_with_post_step(const OptimizerSettings& settings, const UpdateStep& step, const UpdateSpans& spans,
                          const PostSpans& post, double share) {
  if (!post) return cohort::apply(settings, step, spans);
  for (std::size_t first = 0; first < spans.parameters.count; first += kPostBlock) {
    const std::size_t count = std::min(kPostBlock, spans.parameters.count - first);
    const UpdateSpans block = spans.subspan(first, count);
    cohort::apply(settings, step, block);
    post_step(block, post.from(first), share);
  }
}

}  // namespace cohort::update
