#pragma once

#include "model/random_words.h"

#include <ATen/core/Tensor.h>
#include <cohort/random.h>
#include <cstdint>

namespace cohort::model {

/// Makes the parameters of a model, one after the other. The n-th parameter is a pure function of (seed, n,
/// shape), so every rank that builds the same model gets the same bits; torch's generator is not used. The
/// numbers are those that fill_uniform() and fill_normal() write for the stream that next() names.
///
/// Threads: one at a time.
/// Cost: a few nanoseconds per uniform number; models with many millions of parameters are made at every
/// start.
class Initializer {
 public:
  explicit Initializer(std::uint64_t seed);

  /// Uniform in [-bound, bound).
  at::Tensor uniform(at::IntArrayRef shape, double bound);
  at::Tensor normal(at::IntArrayRef shape, double deviation);

  /// The stream of the next parameter.
  StreamName next() const;

 private:
  RandomStream stream_;
  std::uint64_t made_ = 0;
};

}  // namespace cohort::model
