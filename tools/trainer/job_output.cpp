#include "job_output.h"

#include "state/run_directory.h"
#include "storage/local_file_system.h"
#include "storage/path.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iostream>

namespace cohort::tool {
Result<RunDirectory> RunDirectory::take(const std::string& path) {
  constexpr const char* kRemedy = "Name another folder with train.directory.";
  const auto named = [&](const Error& error) {
    return error.within(fmt::format("the run directory '{}' cannot be used", path)).with_remedy(kRemedy);
  };
  LocalFileSystem files;
  if (const Status made = files.make_directories(path); !made) return named(made.error());
  Result<FolderLock> lock = FolderLock::take(path);
  if (!lock) return named(lock.error());
  const Status ready = prepare_run_directory(files, path, {});
  if (!ready) return ready.error().with_remedy(kRemedy);
  return RunDirectory(std::move(*lock));
}

observe::Screen screen_of(const JobOrder& order) {
  if (!order.terminal_columns) return {};
  return {.colours = observe::Colours::kShown, .columns = *order.terminal_columns};
}

namespace {

observe::RunEnd end_of(TrainingEnd end) {
  switch (end) {
    case TrainingEnd::kDone:
      return observe::RunEnd::kDone;
    case TrainingEnd::kPatience:
      return observe::RunEnd::kNoImprovement;
    case TrainingEnd::kStopped:
      return observe::RunEnd::kInterrupted;
    case TrainingEnd::kSolved:
      return observe::RunEnd::kSolved;
  }
  return observe::RunEnd::kDone;
}

observe::Metrics metrics_of(const EvaluationReport& seen) {
  observe::Metrics metrics{{"test loss", seen.loss}};
  if (seen.accuracy) metrics.emplace_back("accuracy", *seen.accuracy);
  return metrics;
}

}  // namespace

JobOutput::JobOutput(const JobOrder& order, const Job& job, int rank, int world)
    : order_(order), rank_(rank), start_(clock_.now()) {
  summary_.ranks = world;
  summary_.run_directory = job.config.train.directory;
  for (const at::Tensor& parameter : job.model->parameters()) summary_.parameters += parameter.numel();
  has_snapshots_ = job.options.checkpoint.has_value();
  if (rank_ != 0) return;
  resumes_ = job.options.resume.has_value();
  directory_.emplace(value_or_throw(RunDirectory::take(job.options.directory)));
  progress_.emplace(
      clock_,
      [out = order.json ? &std::cerr : &std::cout](std::string_view text) { *out << text << std::flush; },
      observe::ProgressOptions{.steps = length_of(job.config, job.data.train->size()).steps,
                               .epochs = job.options.epochs,
                               .terminal_columns = order.terminal_columns});
  if (!order.json) {
    progress_->say(fmt::format("{} on {} rank{}", job.data.facts.description, world, world == 1 ? "" : "s"));
  }
}

void JobOutput::say_settings(const std::string& settings) {
  if (order_.verbosity > 0) std::cerr << fmt::format("rank {}: {}\n", rank_, settings) << std::flush;
}

// The log of a run that goes on has one line for every step, too.
void JobOutput::open_log(std::int64_t steps_before) {
  log_.emplace(value_or_throw(observe::StepLog::open(
      files_, clock_, storage::joined(summary_.run_directory, kStepLog), steps_before)));
}

void JobOutput::resumed(const ResumeReport& report) {
  if (rank_ != 0) return;
  for (const Error& error : report.passed_over) std::cerr << "cohort: passed over: " << error.text() << "\n";
  progress_->say(fmt::format("going on after step {} from '{}'", report.step, report.snapshot));
  open_log(report.step);
}

void JobOutput::step(const StepReport& step) {
  if (rank_ != 0) return;
  if (!log_) {
    if (resumes_) progress_->say("there is no snapshot to go on from: training begins anew");
    open_log(0);
  }
  if (order_.verbosity > 0 && step.step == 1) {
    std::cerr << fmt::format("rank {}: the first step is done\n", rank_) << std::flush;
  }
  summary_.add(step);
  say_fallback(step);
  check(log_->add(step));
  if (has_snapshots_) check(log_->flush());
  progress_->step(step);
}

// Stages that fell back to f32, or returned from it, since the step before.
void JobOutput::say_fallback(const StepReport& step) {
  if (step.f32_stages == f32_stages_) return;
  f32_stages_ = step.f32_stages;
  progress_->say(f32_stages_.empty()
                     ? fmt::format("step {}: all of the model computes in bf16 again", step.step)
                     : fmt::format("step {}: values of the model were not finite in bf16; stage {} "
                                   "computes in f32 for a while",
                                   step.step, fmt::join(f32_stages_, ", ")));
}

void JobOutput::evaluated(const EvaluationReport& seen) {
  if (rank_ != 0) return;
  if (log_) check(log_->flush());
  progress_->epoch_end({.epoch = seen.epoch, .loss = summary_.loss.value_or(0), .metrics = metrics_of(seen)});
}

void JobOutput::close(const TrainingReport& report, const TrainerMemory& memory) {
  if (rank_ != 0) return;
  if (log_) check(log_->close());
  progress_->close();
  summary_.end = end_of(report.end);
  summary_.epochs = report.epochs;
  summary_.solver = report.solver;
  if (report.solver) summary_.loss = report.loss;
  if (report.best) summary_.best_loss = report.best->loss;
  if (report.last) summary_.metrics = metrics_of(*report.last);
  summary_.seconds = std::chrono::duration<double>(clock_.now() - start_).count();
  summary_.memory = {
      {"parameters", memory.parameters}, {"gradients", memory.gradients}, {"moments", memory.moments}};
  summary_.averages = report.averages;
  summary_.masked = report.masked;
  summary_.parameters_hash = report.parameters_hash;
  std::cout << (order_.json ? observe::summary_json(summary_)
                            : observe::summary_table(summary_, screen_of(order_)))
            << std::flush;
}

void JobOutput::check(const Status& status) {
  if (!status) std::cerr << status.error().text() << "\n";
}

}  // namespace cohort::tool
