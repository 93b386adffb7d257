#include "job.h"

#include "base/clock.h"
#include "base/error_codes.h"
#include "base/log_sink.h"
#include "base/units.h"
#include "comm/group/communicator.h"
#include "config/keys.h"
#include "config/load.h"
#include "job/make_optimizer.h"
#include "job/make_schedule.h"
#include "job_output.h"
#include "launch/environment.h"
#include "launch/variables.h"
#include "layout/batch_plan.h"
#include "model/job_facts.h"
#include "observe/log.h"
#include "stop_signal.h"
#include "storage/local_file_system.h"
#include "storage/whole_file.h"
#include "train/model_file.h"
#include "train/settings.h"
#include "update/groups.h"
#include "write_trace.h"
#include <cohort/context.h>

#include <ATen/Parallel.h>
#include <algorithm>
#include <array>
#include <c10/util/Exception.h>
#include <filesystem>
#include <unistd.h>

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

TrainerOptions options_of(const Config& config, std::int64_t samples) {
  const TrainConfig& train = config.train;
  const OptimizerConfig& optimizer = config.optimizer;
  TrainerOptions options{
      .optimizer = job::make_optimizer(optimizer),
      .schedule = job::make_learning_rate_schedule(config.schedule, length_of(train, samples).steps),
      .groups = value_or_throw(parse_groups(optimizer.groups)),
      .clip_grad_norm = unless_zero(optimizer.clip_grad_norm),
      .clip_grad_value = unless_zero(optimizer.clip_grad_value),
      .skip_non_finite = optimizer.skip_non_finite,
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

// The number that the launcher has set. A job whose bits must not depend on the number of ranks gets one
// thread unless it asks for more, since more threads sum in another order.
int threads_of(const Config& config) {
  const bool any_world = config.train.deterministic == "any-world";
  return any_world ? config.launch.threads_per_rank.value_or(1) : at::get_num_threads();
}

// Settings that the job does not have come from the environment.
ContextOptions context_options(const config::Loaded& job, LogSink& sink) {
  const LaunchConfig& launch = job.config.launch;
  ContextOptions options{.log = &sink, .log_level = job.config.log.level};
  const auto around = value_or_throw(launch::read_limits(launch::VariableReader(own_environment())));
  if (job.locations.contains("launch.wait_limit") || !around.call) options.limit = launch.wait_limit;
  if (job.locations.contains("launch.liveness")) options.liveness = launch.liveness;
  options.links = config::links_of(job, {});
  options.arena_bytes = std::max<std::size_t>(options.arena_bytes, launch.shared_memory_per_rank);
  return options;
}

// Launchers of Cohort pass over a rank that exits with kFollowedExitCode. Other launchers report the code of
// the rank that ends first: there this rank exits as the failed one does.
FailedElsewhere failed_elsewhere(int rank, int exit_code) {
  const LaunchFacts facts = value_or_throw(launch_facts(own_environment()));
  return {.rank = rank, .exit_code = facts.launcher == Launcher::kCohort ? kFollowedExitCode : exit_code};
}

int exit_code_of(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    return cohort::exit_code_of(error.code());
  } catch (const c10::Error&) {
    return cohort::exit_code_of(ErrorCode::kIo);
  } catch (...) {
    return cohort::exit_code_of(ErrorCode::kBug);
  }
}

// Most mistakes are the same on all ranks: only the first rank that failed reports its error.
void on_all_ranks(Context& context, const std::function<void()>& prepare) {
  std::exception_ptr mine;
  try {
    prepare();
  } catch (...) {
    mine = std::current_exception();
  }
  std::vector<std::uint8_t> exit_codes(static_cast<std::size_t>(context.size()));
  const std::array own{static_cast<std::uint8_t>(mine ? exit_code_of(mine) : 0)};
  // Reading data may take one rank longer than a call may take: ranks wait for it as long as it is alive.
  value_or_throw(context.communicator().run(
      all_gather(std::span<const std::uint8_t>(own), std::span(exit_codes)).within(std::chrono::hours(24))));
  const auto failed = std::find_if(exit_codes.begin(), exit_codes.end(), [](auto code) { return code != 0; });
  if (failed == exit_codes.end()) return;
  const auto first = static_cast<int>(failed - exit_codes.begin());
  if (first == context.rank()) std::rethrow_exception(mine);
  throw failed_elsewhere(first, *failed);
}

// One rank reports each failure. A rank that another rank aborted leaves the report to that rank. All ranks
// know of a divergence: the rank with the loss reports it, or rank 0. A lost or late peer cannot report
// itself: rank 0 does, or rank 1 if the peer is rank 0.
void leave_the_report_to_others(const Context& context, const Error& error) {
  const FailedElsewhere elsewhere =
      failed_elsewhere(error.rank().value_or(0), cohort::exit_code_of(error.code()));
  if (error.root().code() == ErrorCode::kAborted) throw elsewhere;
  if (error.code() == ErrorCode::kDiverged && elsewhere.rank != context.rank()) throw elsewhere;
  const bool about_a_peer = error.code() == ErrorCode::kPeerLost || error.code() == ErrorCode::kTimedOut;
  const int reporter = error.rank() == 0 ? 1 : 0;
  if (about_a_peer && context.rank() != reporter) throw elsewhere;
}

constexpr int kInterruptedExitCode = 130;

int exit_code_of(const TrainingReport& report, bool has_snapshots) {
  if (report.end != TrainingEnd::kStopped) return 0;
  if (!has_snapshots) return kInterruptedExitCode;
  return report.saved_step == report.steps ? kStoppedExitCode : cohort::exit_code_of(ErrorCode::kIo);
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

// The time at which training must stop: by its own limit, or a minute before Slurm ends the job.
std::optional<std::chrono::system_clock::time_point> deadline_of(const TrainConfig& train) {
  using Clock = std::chrono::system_clock;
  std::optional<Clock::time_point> deadline;
  if (train.time_limit)
    deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(*train.time_limit);
  const EnvironmentVariables variables = own_environment();
  const auto end = value_or_throw(launch::end_of_job(launch::VariableReader(variables)));
  if (end && (!deadline || *end - std::chrono::minutes(1) < *deadline)) {
    deadline = *end - std::chrono::minutes(1);
  }
  return deadline;
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

JobLength length_of(const TrainConfig& train, std::int64_t samples) {
  const std::int64_t batch = train.batch_size == 0 ? samples : train.batch_size;
  const BatchPlan plan(static_cast<std::uint64_t>(samples), static_cast<std::uint64_t>(batch), 1);
  const auto steps_per_epoch = static_cast<std::int64_t>(plan.steps_per_epoch());
  const std::int64_t all = steps_per_epoch * train.epochs;
  return {steps_per_epoch, train.steps ? std::min<std::int64_t>(all, *train.steps) : all};
}

Objective Job::objective() const {
  return [model = model, loss = loss](const Batch& batch) { return evaluate(*model, loss, batch); };
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
  LocalFileSystem files;
  Job job;
  job.config = load_job(order).config;
  job.data = value_or_throw(open_data(files, job.config.data, job.config.train.seed));
  job.options = options_of(job.config, job.data.train->size());
  job.model = value_or_throw(make_model(job.config.model, job.data.facts, job.config.train.seed));
  job.loss = loss_of(job.config.model, job.data.facts);
  job.options.facts = facts_of(job.config.model, job.data);
  job.options.resume = resume_of(order, job);
  if (!job.config.model.initial.empty()) {
    value_or_throw(train::read_model(files, job.config.model.initial, train::tensors_of(*job.model)));
  }
  return job;
}

int run_job(const JobOrder& order) {
  StopSignal::install();
  const config::Loaded loaded = load_job(order);
  const std::string settings = train::settle_in(threads_of(loaded.config));
  DescriptorSink sink(STDERR_FILENO, loaded.config.log.format);
  Context context(context_options(loaded, sink));
  RealClock clock;
  const observe::Log log(sink, clock, {.level = loaded.config.log.level, .rank = context.rank()});
  log.debug("joined {} ranks: {}", context.size(), context.communicator().traits().kind);
  Job job;
  std::optional<JobOutput> output;
  on_all_ranks(context, [&] {
    job = make_job(order);
    train::check_options(job.options, context.size());
    train::check_momentum(job.options);
    train::check_test_data(job.options, job.data.test.get());
    train::check_groups(job.options, *job.model);
    output.emplace(order, job, context.rank(), context.size());
    if (job.options.trace && context.rank() == 0) check_trace_file(job.config.trace.file);
  });
  output->say_settings(settings);
  log.debug("training with {} of {} samples, {} parameters, testing with {}",
            job.options.batch_size.value_or(job.data.train->size()), job.data.train->size(),
            job.model->parameters().size(), job.data.test ? job.data.test->size() : 0);
  job.options.wants_to_stop = [deadline = deadline_of(loaded.config.train)] {
    return StopSignal::is_raised() || (deadline && std::chrono::system_clock::now() >= *deadline);
  };
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
  try {
    Trainer trainer(context, job.model, job.objective(), job.options);
    const TrainingReport report = trainer.fit(job.data.train, job.data.test);
    output->close(report, trainer.memory());
    if (job.options.trace) write_trace(context, trainer.trace(), job.config.trace.file);
    return exit_code_of(report, job.options.checkpoint.has_value());
  } catch (const Error& error) {
    leave_the_report_to_others(context, error);
    throw;
  }
}

}  // namespace cohort::tool
