#include "train/gradient_store.h"

#include <cohort/error.h>

#include <ATen/ATen.h>
#include <fmt/format.h>

namespace cohort::train {

void GradientStore::store(std::size_t p, at::Tensor gradient, Arrival arrival) {
  switch (arrival) {
    case Arrival::kFirst:
      store_first(p, std::move(gradient));
      break;
    case Arrival::kNextBackward:
      buckets_.gradient(p).add_(gradient);
      break;
    case Arrival::kNextPart:
      add_part(p, gradient);
      break;
    case Arrival::kLatePart:
      refuse_late_part(p);
  }
  listener_.stored(p);
}

// Autograd has left the gradient in memory of its own. That memory is adopted, or copied to the bucket and
// freed: both cost less than adding to a bucket that had to be zeroed.
void GradientStore::store_first(std::size_t p, at::Tensor gradient) {
  if (buckets_.can_adopt(p, gradient)) return buckets_.adopt(p, std::move(gradient));
  buckets_.provide(p);
  buckets_.gradient(p).copy_(gradient);
}

// Backward may still read the memory of the first part: the sum goes to other memory.
void GradientStore::add_part(std::size_t p, const at::Tensor& gradient) {
  const at::Tensor sum = buckets_.gradient(p) + gradient;
  buckets_.release(p);
  buckets_.provide(p);
  buckets_.gradient(p).copy_(sum);
}

void GradientStore::refuse_late_part(std::size_t p) const {
  throw UsageError(
      UsageError(
          fmt::format("the gradient of parameter '{}' came in two parts, and the first was used already",
                      parameters_[p].name))
          .with_remedy("The first step shows which gradients come in parts: let it use the module as later "
                       "steps do."));
}

}  // namespace cohort::train
