#pragma once

#include "base/home_process.h"
#include "data/slot_loader.h"
#include "storage/local_file_system.h"
#include "train/replica.h"
#include "train/settings.h"
#include <cohort/trainer.h>

#include <string>

namespace cohort {

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
  Objective objective;
  TrainerOptions options;
  train::Frozen frozen;
  train::Replica replica;
  LocalFileSystem files{};
  TrainingReport report{};
  int evaluations_since_best = 0;
  std::int64_t samples = 0;
  HomeProcess home{};

  void fit(std::shared_ptr<const Dataset> data, const Dataset* test);
  bool epoch(SlotLoader& loader, const BatchPlan& plan);
  train::Verdict step(SlotLoader& loader, const BatchPlan& plan, std::uint64_t step_in_epoch);
  void tell(const train::Verdict& verdict, double learning_rate, StepTimes times);
  bool look_at(const Dataset& test);
  void keep(const std::string& name);
};

}  // namespace cohort
