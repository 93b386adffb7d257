#include "job.h"

#include "config/keys.h"
#include "config/load.h"
#include "job_output.h"
#include "storage/local_file_system.h"
#include "storage/whole_file.h"
#include "train/model_file.h"
#include "train/rank_settings.h"
#include "update/make_rule.h"
#include "update/schedule.h"
#include <cohort/context.h>

#include <ATen/Parallel.h>
#include <algorithm>
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

Config config_of(const JobOrder& order) {
  LocalFileSystem files;
  const std::string text =
      value_or_throw(read_file(files, order.file).within("cannot read the job '" + order.file + "'"));
  const auto keys = config::make_keys();
  return value_or_throw(
             config::load(keys, {.text = text, .file_name = order.file, .overrides = order.overrides}))
      .config;
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
      .deterministic = train.deterministic == "any-world" ? Deterministic::kAnyWorld : Deterministic::kWorld,
      .directory = train.directory,
      .bucket_bytes = train.bucket_bytes,
      .hash_every = train.hash_every,
      .loader_threads = config.data.loader_threads,
      .prefetch = config.data.prefetch};
  if (train.steps) options.steps = *train.steps;
  return options;
}

}  // namespace

Objective Job::objective() const {
  return [model = model, loss = loss](const Batch& batch) { return evaluate(*model, loss, batch); };
}

Job make_job(const JobOrder& order) {
  LocalFileSystem files;
  Job job;
  job.config = config_of(order);
  job.data = value_or_throw(open_data(files, job.config.data, job.config.train.seed));
  job.options = options_of(job.config, job.data.train->size());
  job.model = value_or_throw(make_model(job.config.model, job.data.facts, job.config.train.seed));
  job.loss = loss_of(job.config.model, job.data.facts);
  if (!job.config.model.initial.empty()) {
    value_or_throw(train::read_model(files, job.config.model.initial, train::tensors_of(*job.model)));
  }
  return job;
}

void run_job(const JobOrder& order) {
  const std::string settings = train::settle_in(at::get_num_threads());
  stop_at_the_next_step();
  Context context;
  Job job;
  try {
    job = make_job(order);
  } catch (const Error& error) {
    context.abort(error.text());
    throw;
  }
  JobOutput output(order, job, context.rank(), context.world());
  output.say_settings(settings);
  job.options.wants_to_stop = [] { return asked_to_stop.load(); };
  job.options.on_step = [&](const StepReport& step) { output.step(step); };
  job.options.on_evaluation = [&](const EvaluationReport& seen) { output.evaluated(seen); };
  Trainer trainer(context, job.model, job.objective(), job.options);
  output.close(trainer.fit(job.data.train, job.data.test));
}

}  // namespace cohort::tool
