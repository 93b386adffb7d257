#pragma once

#include "nn/statistics_exchange.h"
#include <cohort/batch_norm.h>

#include <memory>
#include <vector>

namespace torch::nn {
class Module;
}

namespace cohort::nn {

/// The layers inside `module`, and `module` itself, that normalise over ranks, each once.
std::vector<std::shared_ptr<SynchronisedLayer>> synchronised_layers(torch::nn::Module& module);

/// The synchronised layers of a module while a Trainer or a DataParallel trains it. Gives the layers that no
/// user has connected the group of the training.
///
/// Threads: abort() from any, the rest one at a time.
/// Lifetime: the group must outlive it. The destructor takes the group away from the layers that still have
/// it.
/// Failure: the constructor throws what the group reports.
/// Cost: a split of the group, if there are such layers.
class SynchronisedLayers {
 public:
  /// All ranks of the group construct it together, for the same layers.
  SynchronisedLayers(Communicator& group, torch::nn::Module& module);
  ~SynchronisedLayers();
  SynchronisedLayers(const SynchronisedLayers&) = delete;
  SynchronisedLayers& operator=(const SynchronisedLayers&) = delete;

  bool empty() const { return layers_.empty(); }
  /// Whether forward and backward wait for other ranks, so that all must make equally many.
  bool communicate() const;
  void set_standing(Standing standing);
  /// The total time of waiting for other ranks.
  std::chrono::nanoseconds waited() const;
  /// Their communicators, each once.
  std::vector<Communicator*> communicators() const;

 private:
  std::vector<std::shared_ptr<SynchronisedLayer>> layers_;
  std::shared_ptr<StatisticsExchange> own_;                     // null: all layers were connected by users
  std::vector<std::shared_ptr<StatisticsExchange>> exchanges_;  // each once
};

}  // namespace cohort::nn
