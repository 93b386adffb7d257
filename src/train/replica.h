#pragma once

#include "layout/program.h"
#include "train/buffers.h"
#include "train/engine.h"
#include "train/gradient_hooks.h"
#include "train/gradient_pool.h"
#include "train/lock_step.h"
#include "train/vote.h"
#include <cohort/dataset.h>
#include <cohort/trainer.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace cohort::train {

/// What makes one step different from another.
struct StepInfo {
  std::int64_t step = 0;  ///< from 0
  double learning_rate = 0;
  double weight = 0;       ///< samples of the whole batch
  std::vector<int> slots;  ///< of this rank, in order
  bool hash_replica = false;
  bool wants_to_stop = false;
};

struct ReplicaSettings {
  std::uint64_t seed = 0;
  Summation summation = Summation::kByRank;
  double clip_norm = 0;   ///< 0: none
  double clip_value = 0;  ///< 0: none
  bool skip_non_finite = false;
  std::size_t bucket_bytes = std::size_t{4} << 20;
  Copies copies = Copies::kOne;  ///< wanted
};

/// When parameters may change under these settings.
UpdateTime update_time(const ReplicaSettings& settings);

/// The batch of a slot.
using Load = std::function<Batch(int slot)>;

/// One rank's copy of the model, and the step it makes together with the others: evaluate, vote, apply.
///
/// Threads: one at a time; it has a thread of its own for the buckets.
/// Lifetime: group and arena must outlive it; the module has its parameters in the arena as long as this
/// lives.
/// Failure: throws the first failure of any rank and ends the step of all; afterwards only the destructor may
/// be called.
/// Cost: parameters and gradients in the arena, the moments of one slice.
class Replica {
 public:
  Replica(Communicator& group, Arena& arena, std::shared_ptr<torch::nn::Module> module, Objective objective,
          std::vector<ParameterUpdate> updates, const ReplicaSettings& settings);
  ~Replica();

  Verdict step(const StepInfo& info, const Load& load);

  Copies copies() const { return buckets_->has_common_values() ? Copies::kOne : Copies::kPerRank; }
  const BucketSet& buckets() const { return *buckets_; }
  const ModuleTensors& tensors() const { return tensors_; }
  std::size_t moment_bytes() const { return lock_step_->moment_bytes(); }
  std::size_t gradient_bytes() const;
  UpdateTime update_time() const { return train::update_time(settings_); }
  /// How long steps waited for communication that nothing hid, in all.
  std::chrono::nanoseconds waited() const { return engine_->waited(); }

 private:
  void perform(const Action& action);
  void forward(int slot);
  void backward();
  void arrived(std::size_t parameter);
  void take_note_of_second_part(std::size_t parameter);
  void fill_rest();
  void open(const StepInfo& info);
  void settle();
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
  std::unique_ptr<GradientHooks> hooks_;
  std::unique_ptr<Engine> engine_;

  // Of the step that is going on.
  const StepInfo* info_ = nullptr;
  const Load* load_ = nullptr;
  Batch batch_;
  at::Tensor loss_;
  Tally tally_;
  std::vector<double> slot_losses_;
  double bad_loss_ = 0;  // the first that is not finite
  Verdict verdict_;
  std::size_t slots_left_ = 0;
  std::vector<bool> slot_touched_;    // by the slot that is going on
  std::vector<std::size_t> pending_;  // per bucket: parameters whose gradient has not come
  std::vector<bool> bucket_filled_;
  std::vector<bool>
      comes_twice_;  // parameters whose gradient came in two parts: known at the end of backward only
  struct Tree;
  std::unique_ptr<Tree> tree_;
  std::vector<std::size_t> observed_;  // the order in which gradients came in the first step
  bool order_is_known_ = false;
};

}  // namespace cohort::train
