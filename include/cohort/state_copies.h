#pragma once

#include <cohort/export.h>
#include <cohort/state.h>

#include <cstdint>
#include <functional>
#include <memory>

namespace torch::nn {
class Module;
}
namespace torch::optim {
class Optimizer;
}

namespace cohort {

class Arena;
class Context;
namespace train {
class KeptState;
}

/// Copies of the state of a training in the memory of the ranks: after the loss of a rank, or of a host, the
/// ranks that are left go on from the last step that was kept, without a disk. A Trainer keeps copies by
/// TrainerOptions::copies, a loop of your own by keep() and restore():
///
///     cohort::StateCopies copies(context);
///     …                                      // here again after context.form(), as long as ranks are lost
///     for (std::int64_t step = copies.restore(*net, optimizer); step < 1000; ++step) {
///       …
///       copies.keep(step + 1, *net, optimizer);
///     }
///
/// On one host each rank copies its share of the state, and no bytes are sent. Between hosts, each part is
/// also sent to another host, while the next step runs. Ranks may go on in another number.
///
/// Threads: one at a time. All ranks of the group make the same calls.
/// Lifetime: made once; it outlives trainers and generations. The Context must outlive it. The copies of a
/// rank that ends by an exception, or is killed, stay readable for the other ranks of its host.
/// Failure: throws Error, as the group does; after that, form() the next generation and restore(), or make a
/// Trainer. The state is lost with two hosts at the same time, or with the only one: write snapshots, too.
/// Cost: memory for two copies of the state on one host, for four on several; time for one copy of the rank's
/// share in each keep(), which waits for the slowest rank.
class COHORT_EXPORT StateCopies {
 public:
  explicit StateCopies(Context& context);
  ~StateCopies();
  StateCopies(const StateCopies&) = delete;
  StateCopies& operator=(const StateCopies&) = delete;

  /// A function that visits a state, such as that of a module, an optimizer and a generator of yours.
  using Visit = std::function<void(const StateVisitor&)>;

  /// Keeps the state after `steps` steps, instead of the one before the last. It survives a loss once this
  /// has returned on all ranks; until then, the last one does.
  void keep(std::int64_t steps, torch::nn::Module& module, torch::optim::Optimizer& optimizer);
  void keep(std::int64_t steps, const Visit& visit);

  /// Fills the state from the newest copies that are complete in the memory of the ranks. Returns the number
  /// of steps after which they were kept; 0, without a change, if no rank has kept any.
  ///
  /// Failure: kNotFound if copies were kept and too many of them were lost.
  std::int64_t restore(torch::nn::Module& module, torch::optim::Optimizer& optimizer);
  std::int64_t restore(const Visit& visit);

  /// Frees the memory of the copies, when the training is over on all ranks and no rank needs them. A Trainer
  /// whose fit() begins when all ranks have ended the one before does the same.
  void give_back();

  // For code of Cohort: copies that a Trainer alone uses.
  explicit StateCopies(Arena& arena);
  train::KeptState& kept();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cohort
