#pragma once

#include "update/optimizer.h"

namespace cohort::update {

/// The arrays of post-steps beside those of an update; null where there are none.
struct PostSpans {
  float* average = nullptr;
  const float* mask = nullptr;  ///< 0 where an element stays zero

  explicit operator bool() const { return average != nullptr || mask != nullptr; }
  PostSpans from(std::size_t first) const {
    return {average == nullptr ? nullptr : average + first, mask == nullptr ? nullptr : mask + first};
  }
};

/// The step after an update of the same elements: sets masked elements of parameters, master and moments to
/// zero, and moves the averages towards the parameters, or towards the master, by `share`; 0: averages stay.
///
/// Cost: one pass over the spans.
void post_step(const UpdateSpans& spans, const PostSpans& post, double share);

/// apply() and post_step(), block by block, so that elements are still in the cache.
void apply_with_post_step(const OptimizerSettings& settings, const UpdateStep& step, const UpdateSpans& spans,
                          const PostSpans& post, double share);

}  // namespace cohort::update
