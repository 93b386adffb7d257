#pragma once

#include "base/home_process.h"
#include "data/slot_loader.h"
#include "train/averaged_model.h"
#include "train/batches_objective.h"
#include "train/checkpoints.h"
#include "train/computation.h"
#include "train/model_directory.h"
#include "train/replica.h"
#include "train/settings.h"
#include "train/sliced_solver.h"
#include "train/trainer_trace.h"
#include <cohort/trainer.h>

#include <optional>
#include <string_view>

namespace cohort {

/// The arguments of the constructors, however a model was given.
struct Trainer::Order {
  std::shared_ptr<torch::nn::Module> module;
  train::Computation computation;
  torch::optim::Optimizer* optimizer = nullptr;  // null: an optimizer of Cohort
  TrainerOptions options;
};

/// The state of a trainer.
struct Trainer::Parts {
  /// In seconds.
  struct StepTimes {
    double whole = 0;
    double waited = 0;   ///< for other ranks
    double stalled = 0;  ///< for data
  };

  std::shared_ptr<void> keeps{};  // before the rest, to be destroyed after it; may be null
  Communicator& group;
  std::shared_ptr<torch::nn::Module> module;
  train::Computation computation;
  TrainerOptions options;
  train::Frozen frozen;
  std::unique_ptr<train::TorchOptimizer> torch_optimizer;  // null: an optimizer of Cohort
  std::unique_ptr<train::TrainerTrace> trace;              // null: nothing is recorded
  train::Replica replica;
  std::unique_ptr<train::SlicedSolver> solver{};  // null: an optimizer
  train::ModelDirectory directory;
  std::optional<train::Checkpoints> checkpoints{};  // of the present fit()
  TrainingReport report{};
  checkpoint::Course course{};                  // of the present fit(), or of the last one
  std::shared_ptr<const Dataset> train_data{};  // of the last fit()
  bool save_is_due = false;                     // a snapshot, at the end of the epoch
  std::int64_t samples_before = 0;              // of the training that this fit() goes on with
  HomeProcess home{};

  /// Goes to the position of the snapshot from which training goes on, or to the beginning, and makes the
  /// folders ready.
  void begin(const Dataset& data);
  void forget_best();
  void fit(std::shared_ptr<const Dataset> data, const Dataset* test);
  bool epoch(SlotLoader& loader, const BatchPlan& plan);
  /// An epoch with a solver: one step. False if training ended before it.
  bool solver_epoch(train::BatchesObjective& objective, std::int64_t num_samples);
  void make_solver();
  train::BatchesObjective::Parts objective_parts(SlotLoader& loader, const BatchPlan& plan);
  train::Verdict step(SlotLoader& loader, std::uint64_t step_in_epoch);
  std::vector<int> turns() const;
  train::Loaded load(SlotLoader& loader, const SlotAddress& address) const;
  /// The learning rate of the next step; sets those of an optimizer of torch.
  double learning_rate() const;
  void tell(const train::Verdict& verdict, const train::StepInfo& info, StepTimes times);
  /// Adds a step to the report, and reports it.
  void count(const StepReport& step);
  bool look_at(const Dataset& test);
  /// One more loss for a schedule that lowers the learning rate on a plateau of these losses.
  void watch(learning_rate::Plateau::Metric metric, double loss);
  /// Adds a step to the mean training loss of the epoch, if the schedule watches it.
  void add_to_epoch(const train::Verdict& verdict);
  void end_epoch();
  void keep(std::string_view name);
  train::EvaluationOptions evaluation_options() const;
  /// Failure: throws UsageError if statistics are asked for that no layer has.
  void check_statistics() const;
  /// Makes the averages the parameters of the module while it lives; null if there are none yet. `report.end`
  /// is kStopped if a rank was asked to stop meanwhile; then the model is not whole.
  std::unique_ptr<train::AveragedModel> averaged_model(const train::EvaluationOptions& how);
  /// Writes the averaged model, if there is one.
  void keep_averages();
};

}  // namespace cohort
