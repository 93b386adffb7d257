#pragma once

#include "layout/program.h"
#include "train/buffers.h"
#include "train/engine.h"
#include "train/gradient_intake.h"
#include "train/lock_step.h"
#include "train/torch_optimizer.h"
#include "train/vote.h"
#include <cohort/dataset.h>
#include <cohort/trainer.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace cohort::train {

/// The inputs of one step.
struct StepInfo {
  std::int64_t step = 0;  ///< from 0
  double learning_rate = 0;
  double weight = 0;       ///< number of samples of the whole batch
  std::vector<int> slots;  ///< slots of this rank, in order
  bool hash_replica = false;
  bool wants_to_stop = false;
};

struct ReplicaSettings {
  std::uint64_t seed = 0;
  Summation summation = Summation::kByRank;
  double clip_norm = 0;   ///< 0: no clipping
  double clip_value = 0;  ///< 0: no clipping
  bool skip_non_finite = false;
  std::size_t bucket_bytes = std::size_t{4} << 20;
  Copies copies = Copies::kOne;  ///< kOne has effect only where ranks share memory
  /// Updates the parameters instead of Cohort's optimizers. Must outlive the replica.
  TorchOptimizer* torch_optimizer = nullptr;
};

/// The earliest time at which parameters may change under these settings.
UpdateTime update_time(const ReplicaSettings& settings);

/// Returns the batch of a slot.
using Load = std::function<Batch(int slot)>;

/// One rank's copy of the model, and its part in a step of all ranks: evaluate, vote, apply.
///
/// Threads: one at a time; has another thread for the buckets.
/// Lifetime: group and arena must outlive it. While it lives, the parameters of the module lie in the arena.
/// Failure: throws the first failure of any rank and ends the step of all ranks; afterwards only the
/// destructor may be called.
/// Cost: parameters and gradients in the arena, the moments of one slice.
class Replica : private GradientSink {
 public:
  Replica(Communicator& group, Arena& arena, std::shared_ptr<torch::nn::Module> module, Objective objective,
          std::vector<ParameterUpdate> updates, const ReplicaSettings& settings);
  ~Replica() override;

  Verdict step(const StepInfo& info, const Load& load);

  Copies copies() const { return buckets_->has_common_values() ? Copies::kOne : Copies::kPerRank; }
  const BucketSet& buckets() const { return *buckets_; }
  const ModuleTensors& tensors() const { return tensors_; }
  std::size_t moment_bytes() const { return lock_step_->moment_bytes(); }
  std::size_t gradient_bytes() const;
  UpdateTime update_time() const { return train::update_time(settings_); }
  /// The total time that steps waited for communication that no computation hid.
  std::chrono::nanoseconds waited() const { return engine_->waited(); }

 private:
  void perform(const Action& action);
  void forward(int slot);
  void backward();
  bool accepts(std::size_t parameter) override;
  void store(std::size_t parameter, at::Tensor gradient, Arrival arrival) override;
  void full(std::size_t bucket) override;
  void store_first(std::size_t parameter, at::Tensor gradient);
  void add_part(std::size_t parameter, const at::Tensor& gradient);
  void add_to_tree();
  [[noreturn]] void refuse_late_part(std::size_t parameter) const;
  void open(const StepInfo& info);
  void settle();
  void optimize();
  [[noreturn]] void refuse_norm() const;
  [[noreturn]] void refuse(const BadLoss& bad) const;
  void follow_observed_order();
  ParameterMemory memory_for(const BucketLayout& layout);
  BucketLayout planned_layout(const std::vector<at::Tensor>& parameters,
                              const std::vector<std::size_t>& order) const;

  Communicator& group_;
  Arena& arena_;
  const std::shared_ptr<torch::nn::Module> module_;
  const Objective objective_;
  const ReplicaSettings settings_;
  const ModuleTensors tensors_;
  std::unique_ptr<BucketSet> buckets_;
  std::unique_ptr<LockStep> lock_step_;
  Buffers buffers_;
  std::unique_ptr<GradientIntake> intake_;
  std::unique_ptr<Engine> engine_;

  // The current step:
  const StepInfo* info_ = nullptr;
  const Load* load_ = nullptr;
  Batch batch_;
  at::Tensor loss_;
  Tally tally_;
  std::vector<double> slot_losses_;
  double bad_loss_ = 0;  // the first loss that is not finite
  Verdict verdict_;
  std::size_t slots_left_ = 0;
  struct Tree;
  std::unique_ptr<Tree> tree_;
};

}  // namespace cohort::train
