#pragma once

#include <cohort/export.h>

#include <cstdint>
#include <memory>
#include <ostream>
#include <span>
#include <torch/nn/cloneable.h>
#include <torch/nn/pimpl.h>
#include <vector>

namespace cohort {

/// The facts that decide which elements the next forward drops: seed and step of the run, and the indices of
/// the batch's samples in the data set.
struct DropoutStep {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  std::span<const std::int64_t> samples{};
};

/// Dropout whose random choice does not depend on the number of ranks. Elements are zeroed at random and the
/// others scaled up, as by torch::nn::Dropout, but the choice is a pure function of (seed, step, layer,
/// sample, element): a sample loses the same elements however samples are spread over micro-batches and
/// ranks.
///
///     dropout = register_module("dropout", cohort::Dropout(0.1));
///     …
///     cohort::set_step(model, {.seed = seed, .step = step, .samples = batch.samples});
///     loss = criterion(model.forward(batch.input), batch.target);
///
/// In eval() mode, and with rate 0, forward() returns its input.
///
/// Threads: one at a time.
/// Failure: forward() throws UsageError if set_step() named more or fewer samples than the input has rows.
/// Cost: one pass over memory forward and one backward. For backward only the sample indices are kept, no
/// mask.
class COHORT_EXPORT DropoutImpl : public torch::nn::Cloneable<DropoutImpl> {
 public:
  /// Drops each element with probability `rate`, 0 ≤ rate < 1, rounded to a multiple of 2^-32.
  explicit DropoutImpl(double rate);

  /// The first dim of `input` runs over the samples of the batch.
  at::Tensor forward(const at::Tensor& input);

  double rate() const { return rate_; }
  /// Called by set_step(). `key` is a hash of (seed, step, layer).
  void set(std::uint64_t key, std::shared_ptr<const std::vector<std::int64_t>> samples);

  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

 private:
  double rate_;
  std::uint64_t key_ = 0;
  std::shared_ptr<const std::vector<std::int64_t>> samples_;
};

/// The holder, as for modules of torch: `Dropout` behaves as a pointer to a DropoutImpl.
TORCH_MODULE(Dropout);

/// Prepares every Dropout inside `module`, and `module` itself, for the next forward. Layers are numbered in
/// the order of registration.
COHORT_EXPORT void set_step(torch::nn::Module& module, const DropoutStep& step);

}  // namespace cohort
