#pragma once

#include <cohort/export.h>

#include <cstdint>
#include <memory>
#include <ostream>
#include <span>
#include <torch/nn/cloneable.h>
#include <vector>

namespace cohort {

/// Which step of which run the next forward belongs to, and which samples of the data set its batch holds.
struct DropoutStep {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  std::span<const std::int64_t> samples{};
};

/// Zeroes elements at random and scales the others up, such that what is dropped is a pure function of (seed,
/// step, layer, sample, element): however samples are spread over batches, slots and ranks, a sample loses
/// the same elements.
///
///     dropout = register_module("dropout", std::make_shared<cohort::Dropout>(0.1));
///     …
///     cohort::set_step(model, {.seed = seed, .step = step, .samples = batch.samples});
///     loss = criterion(model.forward(batch.input), batch.target);
///
/// In eval() mode, and with rate 0, it gives back its input.
/// Threads: one at a time.
/// Failure: forward throws UsageError if set_step() was not told of as many samples as the input has rows.
/// Cost: one pass over memory forward and one backward; nothing is kept for backward but the samples'
/// numbers.
class COHORT_EXPORT Dropout : public torch::nn::Cloneable<Dropout> {
 public:
  /// Each element is dropped with probability `rate`, 0 ≤ rate < 1, to the nearest multiple of 2^-32.
  explicit Dropout(double rate);

  /// The first dimension counts samples.
  at::Tensor forward(const at::Tensor& input);

  double rate() const { return rate_; }
  /// What set_step() says to every Dropout: `key` stands for (seed, step, layer).
  void set(std::uint64_t key, std::shared_ptr<const std::vector<std::int64_t>> samples);

  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

 private:
  double rate_;
  std::uint64_t key_ = 0;
  std::shared_ptr<const std::vector<std::int64_t>> samples_;
};

/// Tells every Dropout below `module` (itself included) what the next forward is about. Layers are numbered
/// in the order of registration.
COHORT_EXPORT void set_step(torch::nn::Module& module, const DropoutStep& step);

}  // namespace cohort
