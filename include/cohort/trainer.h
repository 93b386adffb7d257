#pragma once

#include <cohort/dataset.h>
#include <cohort/evaluation.h>
#include <cohort/export.h>
#include <cohort/rule.h>
#include <cohort/schedule.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torch::nn {
class Module;
}

namespace cohort {

class Arena;
class Communicator;
class Context;

/// What a batch is evaluated with: the sum of its samples' losses, differentiable, and how many they are.
using Objective = std::function<Evaluation(const Batch&)>;

/// An objective out of a function that returns the mean loss of a batch, as losses of torch do.
COHORT_EXPORT Objective mean_loss(std::function<at::Tensor(const Batch&)> loss);

/// For which runs the same bits come out.
enum class Deterministic {
  kWorld,     ///< the same world, seed and thread count
  kAnyWorld,  ///< any world of 1, 2, 4, … ranks that divides the slots, with the same seed and thread count
};

/// One step, as everybody saw it.
struct StepReport {
  std::int64_t step = 0;   ///< from 1
  std::int64_t epoch = 0;  ///< from 1
  double loss = 0;         ///< mean over the batch, before the update
  double learning_rate = 0;
  std::int64_t samples = 0;
  double seconds = 0;
  double communication_seconds = 0;       ///< that this rank waited for others
  double stall_seconds = 0;               ///< that this rank waited for data
  std::optional<double> gradient_norm{};  ///< where something asks for it
  bool skipped = false;
};

/// What a model is worth on data it was not trained with.
struct EvaluationReport {
  std::int64_t epoch = 0;
  std::int64_t step = 0;
  double loss = 0;
  std::optional<double> accuracy{};  ///< where there are classes
  bool is_best = false;
};

struct TrainerOptions {
  Rule rule{.kind = RuleKind::kMomentum};
  Schedule schedule{};
  /// `"*.bias: weight_decay=0"`: other settings for parameters whose names match.
  std::vector<std::string> groups{};
  double clip_norm = 0;   ///< the largest norm of the mean gradient; 0: none
  double clip_value = 0;  ///< the largest element of it; 0: none
  /// A step whose loss or gradients are not finite changes nothing. Otherwise such a loss is an error that
  /// ends all, the parameters being spoilt already, and so is, where clip_norm asks for it, such a norm.
  bool skip_non_finite = false;

  std::int64_t batch = 64;  ///< over all ranks; 0: all samples
  int slots = 0;            ///< pieces a batch is cut into; 0: one per rank
  std::int64_t epochs = 1;
  std::optional<std::int64_t> steps{};  ///< ends after so many, whatever the epochs
  std::int64_t evaluate_every = 1;      ///< epochs; 0: at the end only
  int patience = 0;                     ///< evaluations without a better loss before it ends; 0: no end
  std::uint64_t seed = 1;
  bool shuffle = true;
  Deterministic deterministic = Deterministic::kWorld;
  std::string directory{};  ///< where best.safetensors and last.safetensors go; empty: nothing is written

  std::size_t bucket_bytes = std::size_t{4} << 20;
  std::int64_t hash_every =
      100;  ///< steps between comparisons of the ranks' copies of the parameters; 0: never
  /// All ranks of a host look at one copy of the parameters, and each updates its slices of it. Code of yours
  /// that changes parameters between steps would do so once for each rank: turn it off then.
  bool one_copy = true;
  int loader_threads = 1;
  int prefetch = 4;

  std::function<void(const StepReport&)> on_step{};              ///< on every rank
  std::function<void(const EvaluationReport&)> on_evaluation{};  ///< on every rank
  std::function<bool()> wants_to_stop{};                         ///< asked once a step; one rank is enough
};

enum class TrainingEnd { kDone, kPatience, kStopped };

/// What training came to; the same on all ranks, but for times.
struct TrainingReport {
  TrainingEnd end = TrainingEnd::kDone;
  std::int64_t steps = 0;
  std::int64_t epochs = 0;
  double loss = 0;  ///< of the last step
  std::optional<EvaluationReport> last{};
  std::optional<EvaluationReport> best{};
  double seconds = 0;
  double samples_per_second = 0;
  double communication_seconds = 0;
  double stall_seconds = 0;
  std::string parameters_hash{};
};

/// What a rank needs of memory, by kind.
struct TrainerMemory {
  std::size_t parameters = 0;  ///< its share, where all ranks look at one copy
  std::size_t gradients = 0;   ///< at once, at most so far
  std::size_t moments = 0;
};

/// Synchronous data-parallel training of a module.
///
///     auto net = std::make_shared<Net>();
///     cohort::Trainer trainer(context, net, cohort::mean_loss([&](const cohort::Batch& batch) {
///       return torch::nn::functional::cross_entropy(net->forward(batch.input), batch.target);
///     }), {.epochs = 10});
///     const cohort::TrainingReport report = trainer.fit(train, test);
///
/// Threads: one at a time.
/// Lifetime: the context must outlive it; while it lives the module's parameters lie in memory shared with
/// the other ranks. A gradient that a hook of yours keeps must not outlive the context.
/// Failure: throws; what one rank throws, in its objective too, ends the step of all, and they throw what it
/// was.
class COHORT_EXPORT Trainer {
 public:
  Trainer(Context& context, std::shared_ptr<torch::nn::Module> module, Objective objective,
          TrainerOptions options = {});
  Trainer(Communicator& group, Arena& arena, std::shared_ptr<torch::nn::Module> module, Objective objective,
          TrainerOptions options = {});
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Trains as the options say. All ranks give the same data.
  TrainingReport fit(std::shared_ptr<const Dataset> train, std::shared_ptr<const Dataset> test = nullptr);
  /// Mean loss, and the share of right answers; all ranks together.
  EvaluationReport evaluate(const Dataset& data);
  TrainerMemory memory() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cohort
