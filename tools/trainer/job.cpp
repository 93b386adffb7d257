#include "job.h"

#include "base/error_codes.h"
#include "base/units.h"
#include "config/keys.h"
#include "config/load.h"
#include "job/make_optimizer.h"
#include "job/make_schedule.h"
#include "job_output.h"
#include "layout/batch_plan.h"
#include "model/job_facts.h"
#include "rank_of_job.h"
#include "storage/local_file_system.h"
#include "storage/whole_file.h"
#include "train/model_file.h"
#include "train/settings.h"
#include "update/groups.h"
#include "write_trace.h"
#include <cohort/context.h>

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

// In job files 0 means that a setting has no effect.
template <class T>
std::optional<T> unless_zero(T value) {
  return value == 0 ? std::nullopt : std::optional<T>(value);
}

CheckpointOptions checkpoint_options(const CheckpointConfig& checkpoint) {
  CheckpointOptions options{.keep_last = checkpoint.keep_last,
                            .keep_best = checkpoint.keep_best,
                            .keep_every = unless_zero<std::int64_t>(checkpoint.keep_every),
                            .background = checkpoint.background,
                            .compress = checkpoint.compress,
                            .full_every = checkpoint.full_every};
  if (!checkpoint.directory.empty()) {
    options.directory = std::filesystem::absolute(checkpoint.directory).string();
  }
  if (checkpoint.every) {
    options.every_steps = checkpoint.every->steps;
    options.every_time = checkpoint.every->time;
  }
  return options;
}

// All settings of the job, as TOML.
std::string text_of(const Config& config) {
  std::string text;
  for (const config::Key& key : config::make_keys()) {
    const std::string value = key.show(config);
    if (!value.empty()) text += key.name + " = " + value + "\n";
  }
  return text;
}

Precision precision_of(const PrecisionConfig& config) {
  Precision precision{.compute = config.compute,
                      .parameters = config.parameters,
                      .loss_scaling = config.loss_scaling,
                      .loss_scale = {.init_scale = config.initial_scale,
                                     .growth_factor = config.growth_factor,
                                     .backoff_factor = config.backoff_factor,
                                     .growth_interval = config.growth_interval,
                                     .hysteresis = config.hysteresis},
                      .least_loss_scale = config.least_scale};
  if (config.loss_scaling == LossScaling::kStatic) precision.loss_scale.init_scale = config.loss_scale;
  if (config.fallback_steps > 0) precision.fallback_steps = config.fallback_steps;
  return precision;
}

AverageOptions average_of(const AverageConfig& config) {
  AverageOptions average{.decay = config.decay,
                         .warmup = config.warmup,
                         .start = config.start,
                         .every = config.every,
                         .evaluate = config.evaluate,
                         .update_bn = config.update_bn};
  if (config.kind != "none") average.kind = config.kind == "ema" ? AverageKind::kEma : AverageKind::kSwa;
  return average;
}

TrainerOptions options_of(const Config& config, std::int64_t samples) {
  const TrainConfig& train = config.train;
  const OptimizerConfig& optimizer = config.optimizer;
  const std::optional<SolverSettings> solver = job::make_solver(optimizer);
  TrainerOptions options{
      .optimizer = solver ? OptimizerSettings{} : job::make_optimizer(optimizer),
      .solver = solver,
      .schedule = job::has_schedule(optimizer)
                      ? job::make_learning_rate_schedule(config.schedule, length_of(config, samples).steps)
                      : LearningRateSchedule{},
      .groups = value_or_throw(parse_groups(optimizer.groups)),
      .clip_grad_norm = unless_zero(optimizer.clip_grad_norm),
      .clip_grad_value = unless_zero(optimizer.clip_grad_value),
      .skip_non_finite = optimizer.skip_non_finite,
      .precision = precision_of(config.precision),
      .average = average_of(config.average),
      .mask = {.sparsity = unless_zero(config.mask.sparsity),
               .parameters = config.mask.parameters,
               .file = config.mask.file},
      .batch_size = unless_zero<std::int64_t>(train.batch_size),
      .micro_batches = unless_zero(train.micro_batches),
      .epochs = train.epochs,
      .evaluate_every = unless_zero<std::int64_t>(train.evaluate_every),
      .patience = unless_zero(train.patience),
      .seed = train.seed,
      .shuffle = config.data.shuffle,
      .deterministic = train.deterministic == "any-world" ? Deterministic::kAnyWorld : Deterministic::kWorld,
      .directory = std::filesystem::absolute(train.directory).string(),  // errors show the whole path
      .bucket_bytes = train.bucket_bytes,
      .hash_every = unless_zero<std::int64_t>(train.hash_every),
      .one_copy = train.one_copy,
      .rank_factors = train.rank_factors,
      .loader_threads = config.data.loader_threads,
      .prefetch = config.data.prefetch};
  if (train.steps) options.steps = *train.steps;
  if (config.checkpoint.every) {
    options.checkpoint = checkpoint_options(config.checkpoint);
    options.checkpoint->config = text_of(config);
  }
  if (!config.trace.file.empty()) options.trace = static_cast<std::size_t>(config.trace.capacity);
  return options;
}

constexpr int kInterruptedExitCode = 130;

int exit_code_of(const TrainingReport& report, bool has_snapshots) {
  if (report.end != TrainingEnd::kStopped) return 0;
  if (!has_snapshots) return kInterruptedExitCode;
  return report.saved_step == report.steps ? kStoppedExitCode : cohort::exit_code_of(ErrorCode::kIo);
}

// A job is often tried with another optimizer, while its learning rate and schedule stay in the file.
void warn_of_rates(const Job& job, const observe::Log& log) {
  const ScheduleConfig& schedule = job.config.schedule;
  if (job::has_schedule(job.config.optimizer)) return;
  const auto warn = [&](std::string_view what) {
    log.warning("{} has no effect: optimizer.name = \"{}\" finds the length of its steps itself", what,
                job.config.optimizer.name);
  };
  if (job.config.optimizer.learning_rate) warn("optimizer.learning_rate");
  if (schedule.name != "constant" || schedule.warmup_steps > 0) warn("[schedule]");
}

// A report that all ranks get, of which rank 0 tells.
void tell_of(const CheckpointReport& report, const observe::Log& log) {
  if (report.removal_failure) log.warning("{}", report.removal_failure->text());
  if (report.failure) {
    log.warning("the snapshot of step {} was not written: {}", report.step, report.failure->text());
    return;
  }
  log.debug("wrote the snapshot of step {}: {} in {:.3f} s, for which training waited {:.3f} s", report.step,
            format_bytes(report.size_bytes), report.write_seconds, report.stall_seconds);
}

}  // namespace

config::Loaded load_job(const JobOrder& order) {
  LocalFileSystem files;
  const std::string text =
      value_or_throw(read_file(files, order.file).within("cannot read the job '" + order.file + "'"));
  const auto keys = config::make_keys();
  return value_or_throw(config::load(keys, {.text = text,
                                            .file_name = order.file,
                                            .overrides = order.overrides,
                                            .working_directory = std::filesystem::current_path().string()}));
}

JobLength length_of(const Config& config, std::int64_t samples) {
  const TrainConfig& train = config.train;
  const bool takes_all = train.batch_size == 0 || solver_named(config.optimizer.name);
  const std::int64_t batch = takes_all ? samples : train.batch_size;
  const BatchPlan plan(static_cast<std::uint64_t>(samples), static_cast<std::uint64_t>(batch), 1);
  const auto steps_per_epoch = static_cast<std::int64_t>(plan.steps_per_epoch());
  const std::int64_t all = steps_per_epoch * train.epochs;
  return {steps_per_epoch, train.steps ? std::min<std::int64_t>(all, *train.steps) : all};
}

Output Job::output() const {
  return [model = model](const Batch& batch) { return model->forward(batch.input); };
}

OutputLoss Job::output_loss() const {
  return [loss = loss](const at::Tensor& output, const Batch& batch) { return judge(loss, output, batch); };
}

// The length of a run without train.steps is known with its data.
void check_average_start(const Job& job) {
  const JobLength length = length_of(job.config, job.data.train->size());
  if (job.config.average.start <= length.steps) return;
  throw UsageError(
      UsageError(fmt::format("average.start = {}, expected an update of the run, which has {} steps",
                             job.config.average.start, length.steps))
          .with_remedy("Set average.start to an earlier step, or train for more epochs."));
}

// A path on the command line is relative to the working directory. Without one, training goes on from the
// newest snapshot of the run, also if the job writes no more of them.
std::optional<std::string> resume_of(const JobOrder& order, const Job& job) {
  if (order.resume.empty()) return std::nullopt;
  if (order.resume != "newest") return std::filesystem::absolute(order.resume).lexically_normal().string();
  const bool is_elsewhere = !job.options.checkpoint && !job.config.checkpoint.directory.empty();
  return is_elsewhere ? checkpoint_options(job.config.checkpoint).directory : "";
}

Job make_job(const JobOrder& order) {
  Job job;
  job.config = load_job(order).config;
  job.data = value_or_throw(open_data(*job.files, job.config.data, job.config.train.seed));
  job.options = options_of(job.config, job.data.train->size());
  check_average_start(job);
  job.model = value_or_throw(make_model(job.config.model, job.data.facts, job.config.train.seed));
  job.loss = loss_of(job.config.model, job.data.facts);
  job.options.facts = facts_of(job.config.model, job.data);
  job.options.resume = resume_of(order, job);
  if (!job.config.model.initial.empty()) {
    value_or_throw(train::read_model(*job.files, job.config.model.initial, train::tensors_of(*job.model)));
  }
  return job;
}

int run_job(const JobOrder& order) {
  RankOfJob rank(order);
  const Context& context = rank.context();
  const observe::Log& log = rank.log();
  Job job;
  std::optional<JobOutput> output;
  rank.on_all_ranks([&] {
    job = make_job(order);
    train::check_options(job.options, context.size());
    train::check_momentum(job.options);
    train::check_test_data(job.options, job.data.test.get());
    train::check_groups(job.options, *job.model);
    output.emplace(order, job, context.rank(), context.size());
    if (job.options.trace && context.rank() == 0) check_trace_file(job.config.trace.file);
  });
  output->say_settings(rank.settings());
  if (context.rank() == 0) warn_of_rates(job, log);
  log.debug("training with {} of {} samples, {} parameters, testing with {}",
            job.options.batch_size.value_or(job.data.train->size()), job.data.train->size(),
            job.model->parameters().size(), job.data.test ? job.data.test->size() : 0);
  job.options.wants_to_stop = [&] { return rank.wants_to_stop(); };
  job.options.on_checkpoint = [&](const CheckpointReport& report) {
    if (context.rank() == 0) tell_of(report, log);
  };
  job.options.on_resume = [&](const ResumeReport& report) { output->resumed(report); };
  job.options.on_step = [&](const StepReport& step) {
    log.trace("step {}: loss {}, {:.3f} s, of which {:.3f} s waiting for ranks and {:.3f} s for data",
              step.step, step.loss, step.seconds, step.communication_seconds, step.stall_seconds);
    output->step(step);
  };
  job.options.on_evaluation = [&](const EvaluationReport& seen) {
    log.debug("evaluated after step {}: loss {}", seen.step, seen.loss);
    output->evaluated(seen);
  };
  return rank.run([&] {
    Trainer trainer(rank.context(), job.model, job.output(), job.output_loss(), job.options);
    const TrainingReport report = trainer.fit(job.data.train, job.data.test);
    output->close(report, trainer.memory());
    if (job.options.trace) write_trace(rank.context(), trainer.trace(), job.config.trace.file);
    return exit_code_of(report, job.options.checkpoint.has_value());
  });
}

}  // namespace cohort::tool
