#include "job.h"

#include "config/keys.h"
#include "config/links_said.h"
#include "job_output.h"
#include "storage/local_file_system.h"
#include "storage/whole_file.h"
#include "train/model_file.h"
#include "train/rank_settings.h"
#include "train/settings.h"
#include "update/make_rule.h"
#include "update/schedule.h"
#include <cohort/context.h>

#include <ATen/Parallel.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>

namespace cohort::tool {
namespace {

// What Ctrl-C asks for; a signal handler can reach nothing else.
std::atomic<bool> asked_to_stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void stop_at_the_next_step() {
  struct sigaction action {};
  action.sa_handler = [](int) { asked_to_stop.store(true); };
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

config::Loaded load_job(const JobOrder& order) {
  LocalFileSystem files;
  const std::string text =
      value_or_throw(read_file(files, order.file).within("cannot read the job '" + order.file + "'"));
  const auto keys = config::make_keys();
  return value_or_throw(
      config::load(keys, {.text = text, .file_name = order.file, .overrides = order.overrides}));
}

std::int64_t steps_of(const TrainConfig& train, std::int64_t samples) {
  const std::int64_t batch = train.batch == 0 ? samples : train.batch;
  const std::int64_t all = (samples + batch - 1) / batch * train.epochs;
  return train.steps ? std::min<std::int64_t>(all, *train.steps) : all;
}

// Without a length of its own a curve lasts as long as the run.
UpdateConfig with_length(UpdateConfig update, std::int64_t steps) {
  if (update.schedule_steps == 0 && update.schedule == "cosine") {
    update.schedule_steps = static_cast<int>(std::max<std::int64_t>(steps - update.warmup_steps, 1));
  }
  return update;
}

TrainerOptions options_of(const Config& config, std::int64_t samples) {
  const TrainConfig& train = config.train;
  const UpdateConfig update = with_length(config.update, steps_of(train, samples));
  TrainerOptions options{
      .rule = value_or_throw(make_rule(update)),
      .schedule = value_or_throw(make_schedule(update)),
      .groups = update.groups,
      .clip_norm = update.clip_norm,
      .clip_value = update.clip_value,
      .skip_non_finite = update.skip_non_finite,
      .batch = train.batch,
      .slots = train.slots,
      .epochs = train.epochs,
      .evaluate_every = train.evaluate_every,
      .patience = train.patience,
      .seed = train.seed,
      .shuffle = config.data.shuffle,
      .deterministic = train.deterministic == "any-world" ? Deterministic::kAnyWorld : Deterministic::kWorld,
      .directory = train.directory,
      .bucket_bytes = train.bucket_bytes,
      .hash_every = train.hash_every,
      .one_copy = train.one_copy,
      .loader_threads = config.data.loader_threads,
      .prefetch = config.data.prefetch};
  if (train.steps) options.steps = *train.steps;
  return options;
}

// What the launcher has set; but where any world shall give the same bits, one, unless the job says
// otherwise: more threads sum in another order.
int threads_of(const Config& config) {
  const bool any_world = config.train.deterministic == "any-world";
  return any_world ? config.launch.threads_per_rank.value_or(1) : at::get_num_threads();
}

// What the job leaves open the environment decides.
ContextOptions context_options(const config::Loaded& job) {
  const LaunchConfig& launch = job.config.launch;
  ContextOptions options{.limit = launch.wait_limit, .liveness = launch.liveness};
  options.links = config::links_said(job);
  options.arena_bytes = std::max<std::size_t>(options.arena_bytes, launch.shared_memory_per_rank);
  return options;
}

// Most mistakes are the same on all ranks: the first of those that failed says it, the others are silent.
void on_all_ranks(Context& context, const std::function<void()>& prepare) {
  std::exception_ptr mine;
  try {
    prepare();
  } catch (...) {
    mine = std::current_exception();
  }
  std::vector<std::uint8_t> failed(static_cast<std::size_t>(context.world()));
  const std::array<std::uint8_t, 1> own{mine ? std::uint8_t{1} : std::uint8_t{0}};
  context.all_gather(std::span<const std::uint8_t>(own), std::span(failed));
  const auto first = static_cast<int>(std::find(failed.begin(), failed.end(), 1) - failed.begin());
  if (first == context.world()) return;
  if (first == context.rank()) std::rethrow_exception(mine);
  throw FailedElsewhere{first};
}

// A rank that was aborted by another knows only what that one says itself. One that is lost cannot say
// anything: rank 0 does, or rank 1 if it is rank 0 that is lost.
void leave_the_word_to_others(const Context& context, const Error& error) {
  const ErrorCode code = error.root().code();
  if (code == ErrorCode::kAborted) throw FailedElsewhere{};
  const bool about_a_peer = error.code() == ErrorCode::kPeerLost || error.code() == ErrorCode::kTimedOut;
  const int speaker = error.text().find("rank 0 ") == std::string::npos ? 0 : 1;
  if (about_a_peer && context.rank() != speaker) throw FailedElsewhere{};
}

constexpr int kStoppedExitCode = 130;

}  // namespace

Objective Job::objective() const {
  return [model = model, loss = loss](const Batch& batch) { return evaluate(*model, loss, batch); };
}

Job make_job(const JobOrder& order) {
  LocalFileSystem files;
  Job job;
  job.config = load_job(order).config;
  job.data = value_or_throw(open_data(files, job.config.data, job.config.train.seed));
  job.options = options_of(job.config, job.data.train->size());
  job.model = value_or_throw(make_model(job.config.model, job.data.facts, job.config.train.seed));
  job.loss = loss_of(job.config.model, job.data.facts);
  if (!job.config.model.initial.empty()) {
    value_or_throw(train::read_model(files, job.config.model.initial, train::tensors_of(*job.model)));
  }
  return job;
}

int run_job(const JobOrder& order) {
  stop_at_the_next_step();
  const config::Loaded loaded = load_job(order);
  const std::string settings = train::settle_in(threads_of(loaded.config));
  Context context(context_options(loaded));
  Job job;
  std::optional<JobOutput> output;
  on_all_ranks(context, [&] {
    job = make_job(order);
    train::check_options(job.options, context.world());
    train::check_groups(job.options, *job.model);
    output.emplace(order, job, context.rank(), context.world());
  });
  output->say_settings(settings);
  job.options.wants_to_stop = [] { return asked_to_stop.load(); };
  job.options.on_step = [&](const StepReport& step) { output->step(step); };
  job.options.on_evaluation = [&](const EvaluationReport& seen) { output->evaluated(seen); };
  try {
    Trainer trainer(context, job.model, job.objective(), job.options);
    const TrainingReport report = trainer.fit(job.data.train, job.data.test);
    output->close(report, trainer.memory());
    return report.end == TrainingEnd::kStopped ? kStoppedExitCode : 0;
  } catch (const Error& error) {
    leave_the_word_to_others(context, error);
    throw;
  }
}

}  // namespace cohort::tool
