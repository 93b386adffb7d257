#include "data/stack.h"

#include <cohort/dataset.h>

namespace cohort {

Dataset::~Dataset() = default;

Sample Dataset::drawn(std::int64_t index, const Draw&) const {
  return at(index);
}

Batch Dataset::batch(std::span<const std::int64_t> indices, const Draw& draw) const {
  data::Stack stack(indices.size());
  for (const std::int64_t index : indices) stack.add(drawn(index, draw), index);
  return std::move(stack).take();
}

}  // namespace cohort
