#pragma once

#include "layout/program.h"
#include "nn/synchronised_layers.h"
#include "reduce/reducer.h"
#include "reduce/slot_tree.h"
#include "train/buffers.h"
#include "train/computation.h"
#include "train/gradient_intake.h"
#include "train/step_precision.h"
#include "train/vote.h"
#include <cohort/dataset.h>
#include <cohort/trainer.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace cohort::train {

/// The batch of a micro-batch.
struct Loaded {
  Loaded() = default;
  Loaded(Batch of_slot) : batch(std::move(of_slot)) {}
  Loaded(Batch of_slot, nn::Standing of_rank) : batch(std::move(of_slot)), standing(of_rank) {}

  Batch batch{};  ///< without samples: nothing is computed
  /// kStandIn: forward and backward are made because other ranks wait for them, and add nothing to the step.
  nn::Standing standing = nn::Standing::kCounts;
};

/// Failure: throws UsageError for a loss that is no number, or has no gradient.
void check_loss(const at::Tensor& loss);

/// Returns the batch of a micro-batch.
using Load = std::function<Loaded(int micro_batch)>;

/// Computes the micro-batches of a rank: load, forward of each stage, backward of each stage.
///
/// A stage leaves its output to the next one and gets the gradient of its output from it, by way of the data
/// that is carried for (stage, micro-batch). Each stage has a graph of its own.
///
/// Threads: one at a time; gradients reach the intake's sink on the thread of backward.
/// Lifetime: everything it was made of must outlive it.
/// Failure: throws what data set, objective and backward throw; UsageError for a loss that is no number.
/// Cost: the samples and the graph of every micro-batch between its load and its backward.
class MicroBatches {
 public:
  struct Parts {
    torch::nn::Module& module;
    const Computation& computation;
    Buffers& buffers;
    BucketSet& buckets;
    GradientIntake& intake;
    nn::SynchronisedLayers& layers;
    std::uint64_t seed = 0;
    Summation summation = Summation::kByRank;  ///< kByTree: also of the gradients of micro-batches
    double loss_factor = 1;                    ///< of losses and weights
    Precision precision{};
  };
  explicit MicroBatches(const Parts& parts);

  /// Begins step `step` of `count` micro-batches.
  void open(std::int64_t step, std::size_t count, const Load& load, const StepPrecision& precision = {});
  /// The verbs of micro-batches.
  void perform(const Action& action);

  /// The sum of the weights of all micro-batches whose forward is over.
  double weight() const { return sum_as_tree(weights_); }
  /// Loss, weights and answers of the step so far.
  Tally tally() const;
  /// The bytes of gradients outside of the buckets.
  std::size_t size_bytes() const { return sums_ ? sums_->size_bytes() : 0; }

 private:
  /// The data that one action of a stage and a micro-batch leaves for another.
  struct Carried {
    std::size_t position = 0;  // of the micro-batch among those of the rank
    Batch batch{};             // without samples: nothing is computed
    nn::Standing standing = nn::Standing::kCounts;
    at::Tensor input{};     // a leaf of the stage's graph
    at::Tensor output{};    // of the last stage, the loss; undefined if nothing was computed
    at::Tensor gradient{};  // of the output, from the next stage
  };
  using Key = std::pair<int, int>;  // stage and micro-batch

  bool is_last(Key key) const { return key.first + 1 == parts_.computation.num_stages(); }
  void begin_micro_batch(Carried& first);
  void load(Key key);
  void forward(Key key);
  void seed_random_layers(Key key, const Batch& batch);
  void hand_on(Key key);
  void judge(Key key);
  void note_overflow(Key key);
  void note_overflow_of_gradients(Key key, const at::Tensor& of_input);
  ComputeType compute_of(int stage) const;
  at::Tensor fitted(int stage, const at::Tensor& input) const;
  void backward(Key key);
  void add_to_sums(bool is_empty);

  const Parts parts_;
  std::optional<SlotTree> sums_;  // kByTree
  // The current step:
  const Load* load_ = nullptr;
  std::int64_t step_ = 0;
  std::size_t count_ = 0;
  std::size_t num_left_ = 0;
  std::map<Key, Carried> carried_;
  Tally tally_;
  std::vector<double> losses_;   // of every micro-batch; 0 if it is empty
  std::vector<double> weights_;  // likewise
  double bad_loss_ = 0;          // the first loss that is not finite
  StepPrecision precision_;
};

}  // namespace cohort::train
