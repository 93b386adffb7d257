#pragma once

#include "checkpoint/optimizer_group.h"
#include "layout/program.h"
#include "reduce/lanes.h"
#include "train/buffers.h"
#include "train/computation.h"
#include "train/engine.h"
#include "train/gradient_store.h"
#include "train/micro_batches.h"
#include "train/sliced_solver.h"
#include "train/synchronizers.h"
#include "train/torch_optimizer.h"
#include "train/vote.h"
#include <cohort/trainer.h>

#include <memory>
#include <optional>
#include <vector>

namespace cohort::train {

/// The inputs of one step.
struct StepInfo {
  std::int64_t step = 0;  ///< from 0
  double learning_rate = 0;
  std::optional<double> momentum{};  ///< or β₁; not set: that of the optimizer
  std::vector<int> micro_batches;    ///< of this rank, in order
  bool hash_replica = false;
  bool wants_to_stop = false;
  bool wants_to_save = false;
  StepPrecision precision{};
};

struct ReplicaSettings {
  std::uint64_t seed = 0;
  Summation summation = Summation::kByRank;
  double clip_norm = 0;   ///< 0: no clipping
  double clip_value = 0;  ///< 0: no clipping
  bool skip_non_finite = false;
  bool makes_two_passes = false;  ///< its optimizers need more of a tensor than elements
  Precision precision{};
  std::size_t bucket_bytes = std::size_t{4} << 20;
  Sharing sharing = Sharing::kWherePossible;
  double loss_factor = 1;  ///< the weight of the losses of this rank, and so of its gradients
  /// Updates the parameters instead of Cohort's optimizers. Must outlive the replica.
  TorchOptimizer* torch_optimizer = nullptr;
  SyncPlan sync{};
  AverageOptions average{};
  MaskOptions mask{};
};

/// The earliest time at which parameters may change under these settings.
UpdateTime update_time(const ReplicaSettings& settings);

/// One rank's copy of the model, and its part in a step of all ranks: evaluate, vote, apply.
///
/// Threads: one at a time; has another thread for each lane of buckets.
/// Lifetime: group, arena and trace must outlive it. While it lives, the parameters of the module lie in the
/// arena.
/// Failure: throws the first failure of any rank and ends the step of all ranks; afterwards only the
/// destructor may be called.
/// Cost: parameters and gradients in the arena, the moments of one slice.
class Replica {
 public:
  Replica(Communicator& group, Arena& arena, std::shared_ptr<torch::nn::Module> module,
          Computation computation, std::vector<ParameterUpdate> updates, const ReplicaSettings& settings);
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  Verdict step(const StepInfo& info, const Load& load);
  /// Records the times of actions there from the next step on.
  void set_trace(ActionTrace* trace);

  /// The communicators that steps use: a failure outside of a step ends them all.
  Lanes& lanes() { return lanes_; }
  Copies copies() const;
  /// The ranks that share this rank's copy of the parameters.
  int num_sharers() const { return buckets_->has_common_values() ? lanes_[1].near()->size() : 1; }
  const BucketSet& buckets() const { return *buckets_; }
  const ModuleTensors& tensors() const { return tensors_; }
  std::size_t moment_bytes() const { return sharded_update().moment_bytes(); }
  const ShardedUpdate& sharded_update() const { return synchronizers_->update(); }
  const PostSteps& post_steps() const { return sharded_update().post_steps(); }
  /// The number of masked elements, on all ranks together.
  std::int64_t num_masked();
  std::size_t gradient_bytes() const;
  UpdateTime update_time() const { return train::update_time(settings_); }
  /// From now on visit() visits the state of this solver in place of that of the optimizer.
  void set_solver(SlicedSolver* solver) { solver_ = solver; }
  /// Visits the module and the state of the optimizer, between steps.
  void visit(const StateVisitor& visitor);
  /// The settings of the optimizer in the last step, for programs that read snapshots.
  std::vector<checkpoint::OptimizerGroup> optimizer_groups() const;
  /// The order of parameters in the buckets, by their index in the module.
  const std::vector<std::size_t>& bucket_order() const { return bucket_order_; }
  /// Moves buckets and moments to this order, which is kept from now on. All ranks together, between steps.
  void set_bucket_order(const std::vector<std::size_t>& order);
  /// Whether forward and backward wait for other ranks, so that all must make equally many.
  bool computes_together() const { return layers_->communicate(); }
  /// The total time that steps waited for communication that no computation hid.
  std::chrono::nanoseconds waited() const { return engine_->waited() + layers_->waited(); }

 private:
  void make_parts(std::vector<ParameterUpdate> updates);
  void connect_layers();
  void begin_post_steps();
  void perform(const Action& action);
  void perform_for_all(const Action& action);
  void open(const StepInfo& info, const Load& load);
  void weigh(const Action& action);
  void settle();
  void optimize();
  StepTerms terms(double scale) const;
  void follow_observed_order();
  void move_to_order(const std::vector<std::size_t>& order);
  void send_parameters();
  ParameterMemory memory_for(const BucketLayout& layout);
  BucketLayout planned_layout(const std::vector<at::Tensor>& parameters,
                              const std::vector<std::size_t>& order) const;

  Communicator& group_;
  Arena& arena_;
  const std::shared_ptr<torch::nn::Module> module_;
  const Computation computation_;
  const ReplicaSettings settings_;
  const ModuleTensors tensors_;
  std::unique_ptr<nn::SynchronisedLayers> layers_;  // before the lanes, which use their groups
  Lanes lanes_;
  std::unique_ptr<BucketSet> buckets_;
  std::unique_ptr<Synchronizers> synchronizers_;
  Buffers buffers_;
  std::unique_ptr<GradientStore> store_;
  std::unique_ptr<GradientIntake> intake_;
  std::unique_ptr<MicroBatches> micro_batches_;
  std::unique_ptr<Engine> engine_;
  std::vector<std::size_t> bucket_order_;
  ActionTrace* trace_ = nullptr;
  SlicedSolver* solver_ = nullptr;

  // The current step:
  StepInfo info_;
  std::uint64_t program_hash_ = 0;
  std::uint64_t replica_hash_ = 0;
  Verdict verdict_;
};

}  // namespace cohort::train
