#pragma once

#include "config/config.h"
#include "data/facts.h"
#include <cohort/dataset.h>

#include <cstdint>
#include <string>

namespace cohort::tool {

/// A model of `cohort bench step`: what it is made of, and what a sample looks like.
struct BenchModel {
  ModelConfig config;
  DataFacts facts;
};

/// mlp, gpt, resnet18, tiny; bench/peers/torch_models.py has the same.
/// Failure: throws UsageError for another name.
BenchModel bench_model(const std::string& name);

/// Random samples of the right shape.
Batch random_batch(const DataFacts& facts, std::int64_t samples, std::uint64_t seed);

}  // namespace cohort::tool
