#include "model/initializer.h"

#include <ATen/ATen.h>
#include <cohort/tensor.h>

namespace cohort::model {
namespace {

constexpr std::uint64_t kParameterStream = 0x706172616d;  // "param"

}  // namespace

Initializer::Initializer(std::uint64_t seed) : stream_(seed, kParameterStream) {}

RandomStream Initializer::next() {
  return stream_.substream(made_++);
}

at::Tensor Initializer::uniform(at::IntArrayRef shape, double bound) {
  at::Tensor tensor = at::empty(shape, at::kFloat);
  fill_uniform(tensor, next(), -bound, bound);
  return tensor;
}

at::Tensor Initializer::normal(at::IntArrayRef shape, double deviation) {
  at::Tensor tensor = at::empty(shape, at::kFloat);
  fill_normal(tensor, next(), 0, deviation);
  return tensor;
}

}  // namespace cohort::model
