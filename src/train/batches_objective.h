#pragma once

#include "data/slot_loader.h"
#include "train/buffers.h"
#include "train/computation.h"
#include "train/sliced_solver.h"

#include <functional>
#include <vector>

namespace torch::nn {
class Module;
}

namespace cohort::train {

/// The whole data set as the objective of a solver. Each rank computes its micro-batches of every batch, one
/// after the other, and adds up their gradients in f64.
///
/// Every evaluation has the same micro-batches, in the same order, the same draws of the data and the same
/// dropout: the loss is a function of the parameters alone.
///
/// Threads: one at a time.
/// Lifetime: everything it was made of must outlive it.
/// Failure: throws what data set and objective throw; UsageError for a loss that is no number.
/// Cost: the graph of one micro-batch. A product computes the forward of every micro-batch again.
class BatchesObjective final : public ObjectiveOfRank {
 public:
  struct Parts {
    torch::nn::Module& module;
    const Computation& computation;
    SlotLoader& loader;
    const BatchPlan& plan;
    std::vector<int> slots;               ///< of this rank
    int ahead = 2;                        ///< batches that are announced to the loader
    std::uint64_t seed = 0;               ///< of dropout
    double loss_factor = 1;               ///< of losses and weights
    std::function<LossOfRank()> wants{};  ///< asked once for an evaluation
  };
  BatchesObjective(Parts parts, Buffers& buffers);

  /// Begins an iteration, which ends with close(), on all ranks together: the buffers of the module become
  /// those after its last evaluation.
  void open();
  void close();
  /// The total time of waiting for data.
  std::chrono::nanoseconds stall() const { return parts_.loader.stall(); }

  LossOfRank evaluate(ParameterVector& sum) override;
  void multiply(const std::vector<at::Tensor>& vector, ParameterVector& sum) override;

 private:
  void for_each_batch(const std::function<void(const Batch& batch)>& body);
  void seed_random_layers(const Batch& batch, std::uint64_t number);

  const Parts parts_;
  Buffers& buffers_;
};

}  // namespace cohort::train
