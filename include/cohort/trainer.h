#pragma once

#include <cohort/checkpoint_options.h>
#include <cohort/dataset.h>
#include <cohort/evaluation.h>
#include <cohort/export.h>
#include <cohort/learning_rate_schedule.h>
#include <cohort/model_facts.h>
#include <cohort/optimizer.h>
#include <cohort/parameter_group.h>
#include <cohort/post_steps.h>
#include <cohort/precision.h>
#include <cohort/solver_settings.h>
#include <cohort/stages.h>
#include <cohort/state.h>
#include <cohort/step_report.h>
#include <cohort/trace.h>

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
namespace torch::optim {
class Optimizer;
}

namespace cohort {

class Arena;
class Communicator;
class Group;
class StateCopies;

/// A function that computes the loss of a batch: the differentiable sum of the losses of its samples or
/// tokens, and their number.
using Objective = std::function<Evaluation(const Batch&)>;
/// A function that computes the output of a model for a batch.
using Output = std::function<at::Tensor(const Batch&)>;
/// The loss of a batch from the output of the model, or of its last stage.
using OutputLoss = std::function<Evaluation(const at::Tensor& output, const Batch&)>;

/// An objective from a function that returns the mean loss over the samples of a batch, as the losses of
/// torch do.
COHORT_EXPORT Objective mean_loss(std::function<at::Tensor(const Batch&)> loss);
COHORT_EXPORT OutputLoss mean_loss(std::function<at::Tensor(const at::Tensor& output, const Batch&)> loss);

/// The runs that give the same parameters to the last bit.
enum class Deterministic {
  kWorld,     ///< runs with the same numbers of ranks and threads and the same seed
  kAnyWorld,  ///< runs with the same number of threads and the same seed, on 1, 2, 4, … ranks, up to
              ///< micro_batches
};

/// The loss and accuracy of the model on a data set that it is not trained with.
struct EvaluationReport {
  std::int64_t epoch = 0;  ///< the epoch that was trained last, complete or not; the first one is 1
  std::int64_t step = 0;
  double loss = 0;
  std::optional<double> accuracy{};  ///< if there are classes
  bool is_best = false;
};

/// The length, the optimizer and the other settings of a training run; docs/training.md explains them.
struct TrainerOptions {
  OptimizerSettings optimizer{};
  /// Instead of `optimizer`, which stays as it is by default then: every step is an iteration of this solver,
  /// with the loss of the whole data set. See docs/solvers.md.
  std::optional<SolverSettings> solver{};
  LearningRateSchedule schedule{};
  std::vector<ParameterGroup> groups{};     ///< for a parameter, the first group that matches its name counts
  std::optional<double> clip_grad_norm{};   ///< the largest norm of the mean gradient; not set: no limit
  std::optional<double> clip_grad_value{};  ///< the largest absolute value of its elements; not set: no limit
  /// Skips a step whose loss or gradients are NaN or infinite. If false, such a loss ends the training on all
  /// ranks with an Error of code kDiverged, as does such a gradient norm if clip_grad_norm is set.
  bool skip_non_finite = false;
  Precision precision{};  ///< the types of numbers, and the scale of the loss
  AverageOptions average{};
  MaskOptions mask{};

  std::optional<std::int64_t> batch_size = 64;  ///< samples over all ranks; nullopt: all of the data set
  std::optional<int> micro_batches{};           ///< parts of a batch, over all ranks; not set: one per rank
  std::int64_t epochs = 1;
  std::optional<std::int64_t> steps{};             ///< the largest number of steps; the epochs may end before
  std::optional<std::int64_t> evaluate_every = 1;  ///< epochs between evaluations; nullopt: only at the end
  std::optional<int> patience{};  ///< ends after this many evaluations in a row without a better loss
  std::uint64_t seed = 1;
  bool shuffle = true;
  Deterministic deterministic = Deterministic::kWorld;
  /// The folder for best.safetensors, last.safetensors and, with `average`, average.safetensors, created if
  /// it does not exist; files of an earlier run are moved to its sub-folder earlier-1, earlier-2, … Empty: no
  /// files are written.
  std::string directory{};
  ModelFacts facts{};  ///< written into these files
  /// Snapshots of the training, at the end of it as well. Not set: none are written.
  std::optional<CheckpointOptions> checkpoint{};
  /// The path of a snapshot to go on from; or of a folder of snapshots, to go on from the newest whole one,
  /// or to begin anew if it has none. Empty: the folder of `checkpoint`. Not set: training begins anew.
  std::optional<std::string> resume{};
  /// Keeps copies of the state in the memory of the ranks, and goes on from them if they have any, instead of
  /// from a snapshot. Must outlive the Trainer. Null: none are kept.
  StateCopies* copies = nullptr;
  std::int64_t copies_every = 1;  ///< steps from one version of the copies to the next

  std::size_t bucket_bytes = std::size_t{4} << 20;
  /// Steps between comparisons of the ranks' copies of the parameters; nullopt: never.
  std::optional<std::int64_t> hash_every = 100;
  /// All ranks of a host share one copy of the parameters, and each rank updates its slices of it. Set this
  /// to false if your code changes parameters between steps: every rank would change the same copy.
  bool one_copy = true;
  /// The weight of the losses of each rank, one number per rank, at least 0 and not all 0: the gradient of a
  /// step is the sum of rank_factors[r] times the gradients of rank r over the sum of rank_factors[r] times
  /// the weights of its samples, and so is the loss of the step. Empty: 1 for every rank.
  std::vector<double> rank_factors{};
  int loader_threads = 1;
  int prefetch = 4;
  /// Records the times of this many actions of each lane and of as many calls, the newest; see
  /// Trainer::trace(). Not set: nothing is recorded.
  std::optional<std::size_t> trace{};

  std::function<void(const StepReport&)> on_step{};              ///< on every rank
  std::function<void(const EvaluationReport&)> on_evaluation{};  ///< on every rank
  std::function<void(const CheckpointReport&)> on_checkpoint{};  ///< on every rank
  std::function<void(const ResumeReport&)> on_resume{};          ///< on every rank, before the first step
  std::function<bool()> wants_to_stop{};  ///< called once a step; training stops if it is true on any rank
};

enum class TrainingEnd {
  kDone,      ///< all epochs or steps are done
  kPatience,  ///< as many evaluations as TrainerOptions::patience had no better loss
  kStopped,   ///< a rank was told to stop
  kSolved,    ///< the solver has ended: TrainingReport::solver says why
};

/// The result of training; the same on all ranks, except for the times.
struct TrainingReport {
  TrainingEnd end = TrainingEnd::kDone;
  std::int64_t steps = 0;
  std::int64_t epochs = 0;
  double loss = 0;  ///< loss of the last step
  std::optional<EvaluationReport> last{};
  std::optional<EvaluationReport> best{};
  double seconds = 0;
  double samples_per_second = 0;
  double communication_seconds = 0;
  double stall_seconds = 0;
  std::string parameters_hash{};
  std::optional<ResumeReport> resumed{};
  /// The step of the newest snapshot that is complete.
  std::optional<std::int64_t> saved_step{};
  std::int64_t skipped_steps = 0;  ///< of `steps`, also before a resume
  /// The state of the solver, if TrainerOptions::solver is set.
  std::optional<SolverReport> solver{};
  std::int64_t averages = 0;  ///< parameters that `average` has taken in, also before a resume
  std::int64_t masked = 0;    ///< elements that `mask` holds at zero
};

/// The bytes of memory that a rank uses.
struct TrainerMemory {
  std::size_t parameters = 0;  ///< a share of them, if the ranks of the host share one copy
  std::size_t gradients = 0;   ///< the largest value so far
  std::size_t moments = 0;     ///< of Cohort's optimizers and solvers, with averages and masks
};

/// Synchronous data-parallel training of a module.
///
///     auto net = std::make_shared<Net>();
///     cohort::Trainer trainer(context, net, cohort::mean_loss([&](const cohort::Batch& batch) {
///       return torch::nn::functional::cross_entropy(net->forward(batch.input), batch.target);
///     }), {.epochs = 10});
///     const cohort::TrainingReport report = trainer.fit(train, test);
///
/// A model may also be given as stages and the loss of their output. Forward and backward of each stage are
/// actions of their own; parameters are named as in Stages::module(). They have the bits that the same layers
/// have with an objective, but random layers of torch draw anew in each stage, and sums of a parameter that
/// several stages share may be rounded otherwise.
///
/// SyncBatchNorm layers of the module (<cohort/batch_norm.h>) get the group. With them every rank makes
/// equally many forwards and backwards: a rank that has no samples left makes one of a single sample, which
/// adds nothing.
///
/// Threads: one thread at a time.
/// Lifetime: the trainer keeps what it needs of its group alive. While the trainer lives, the parameters of
/// the module lie in memory shared with the other ranks. A gradient that one of your hooks keeps must not
/// outlive context and trainer.
/// Failure: throws Error. An exception on one rank, also in its objective, ends the step on all ranks; the
/// others throw an Error with its text.
class COHORT_EXPORT Trainer {
 public:
  Trainer(Group& group, std::shared_ptr<torch::nn::Module> module, Objective objective,
          TrainerOptions options = {});
  /// With an optimizer of torch, made from the module's parameters. Every rank gets all mean gradients and
  /// updates all parameters, so each rank holds parameters and moments in full. The schedule of the options
  /// applies to the learning rate of each parameter group; `optimizer` and `groups` must not be set. The
  /// optimizer must outlive the trainer.
  Trainer(Group& group, std::shared_ptr<torch::nn::Module> module, Objective objective,
          torch::optim::Optimizer& optimizer, TrainerOptions options = {});
  /// With a function for the output and one for the loss, as SolverKind::kGaussNewton needs them.
  Trainer(Group& group, std::shared_ptr<torch::nn::Module> module, Output output, OutputLoss loss,
          TrainerOptions options = {});
  Trainer(Group& group, Stages stages, OutputLoss loss, TrainerOptions options = {});
  Trainer(Group& group, Stages stages, OutputLoss loss, torch::optim::Optimizer& optimizer,
          TrainerOptions options = {});
  Trainer(Communicator& group, Arena& arena, std::shared_ptr<torch::nn::Module> module, Objective objective,
          TrainerOptions options = {});
  Trainer(Communicator& group, Arena& arena, std::shared_ptr<torch::nn::Module> module, Objective objective,
          torch::optim::Optimizer* optimizer, TrainerOptions options);
  Trainer(Communicator& group, Arena& arena, std::shared_ptr<torch::nn::Module> module, Output output,
          OutputLoss loss, TrainerOptions options);
  Trainer(Communicator& group, Arena& arena, Stages stages, OutputLoss loss,
          torch::optim::Optimizer* optimizer, TrainerOptions options);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Trains, and evaluates on `test` every `evaluate_every` epochs and at the end. All ranks must pass the
  /// same data sets. With `resume` the parameters get the bits that they would have without the interruption.
  TrainingReport fit(std::shared_ptr<const Dataset> train, std::shared_ptr<const Dataset> test = nullptr);
  /// The mean loss and the accuracy on `data`. All ranks call it together; each evaluates a part of the data.
  EvaluationReport evaluate(const Dataset& data);
  /// Calls `use` while the module has the averages of `TrainerOptions::average` as parameters. Afterwards,
  /// and if `use` throws, it has its own again. All ranks call it together, not while fit() runs.
  ///
  /// Failure: throws UsageError if there are no averages yet.
  /// Cost: a copy of the parameters on each rank.
  void with_averages(const std::function<void()>& use);
  TrainerMemory memory() const;
  /// Visits everything that training changes, as this rank holds it: parameters and buffers under their
  /// names, moments (`weight/exp_avg`) as slices of their tensors, numbers of updates (`weight/step`), and
  /// the position of the last fit() (`position/step`, …). Not while fit() runs; fit() begins at position 0,
  /// or at that of the snapshot which it goes on from.
  ///
  /// Failure: throws UsageError, naming the tensor, for one that has gaps.
  void visit_state(const StateVisitor& visitor);
  /// The newest actions and calls of this rank; empty unless TrainerOptions::trace is set.
  Trace trace() const;

 private:
  struct Parts;
  struct Order;
  Trainer(Communicator& group, Arena& arena, Order order);

  std::unique_ptr<Parts> parts_;
};

}  // namespace cohort
