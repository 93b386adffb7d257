#include "lr_range.h"

#include "lr_range_output.h"
#include "observe/progress.h"
#include "rank_of_job.h"
#include "storage/local_file_system.h"
#include "storage/whole_file.h"
#include "train/settings.h"
#include "update/optimizer.h"

#include <cmath>
#include <iostream>
#include <span>

namespace cohort::tool {
namespace {

// The rates of groups follow that of the optimizer, in the same proportion as in the job.
void start_at(TrainerOptions& options, double rate) {
  const double before = learning_rate_of(options.optimizer);
  for (ParameterGroup& group : options.groups) {
    if (group.learning_rate && before > 0) *group.learning_rate *= rate / before;
  }
  options.optimizer.learning_rate = rate;
}

// A training of these steps that leaves nothing behind. Steps whose gradients are not finite end the test,
// and not the program.
TrainerOptions range_options(TrainerOptions options, const LrRangeOrder& range) {
  start_at(options, range.from);
  options.schedule = {
      .curve = learning_rate::Exponential{.step_size = range.steps - 1, .gamma = range.to / range.from}};
  options.skip_non_finite = true;
  options.epochs = range.steps;
  options.steps = range.steps;
  options.evaluate_every.reset();
  options.patience.reset();
  options.directory.clear();
  options.checkpoint.reset();
  options.resume.reset();
  options.trace.reset();
  return options;
}

void check_range(const LrRangeOrder& range) {
  if (range.from > 0 && range.to > range.from && range.steps >= 3) return;
  throw UsageError(
      UsageError("a range test takes at least 3 steps, from a learning rate above 0 to a higher one")
          .with_remedy("Leave --from, --to and --steps out for 1e-7, 10 and 100."));
}

// Written first without points: a test that cannot be kept should not be made.
void write_plot(const LrRangeOrder& range, const LrRangeReport& report) {
  if (range.plot.empty()) return;
  LocalFileSystem files;
  const std::string svg = lr_range_svg(report);
  value_or_throw(write_file_atomically(files, range.plot, std::as_bytes(std::span(svg)))
                     .within("cannot write the plot"));
}

observe::Progress progress_of(const RealClock& clock, const LrRangeOrder& range, const JobOrder& order) {
  return {clock,
          [](std::string_view text) { std::cerr << text << std::flush; },
          {.steps = range.steps, .epochs = range.steps, .terminal_columns = order.terminal_columns}};
}

}  // namespace

int run_lr_range(const LrRangeOrder& range, const JobOrder& order) {
  RankOfJob rank(order);
  const bool is_first = rank.context().rank() == 0;
  Job job;
  LrRangeReport report{.ranks = rank.context().size(), .steps = range.steps};
  rank.on_all_ranks([&] {
    check_range(range);
    job = make_job(order);
    if (job.options.solver) {
      throw UsageError(UsageError(std::string("optimizer.name = \"") +
                                  std::string(name(job.options.solver->kind)) +
                                  "\" is a solver, which has no learning rate to find")
                           .with_remedy("Name an optimizer: --set optimizer.name=sgd."));
    }
    report.batch_factor = batch_factor(job.options.schedule.scale_with_batch,
                                       job.options.batch_size.value_or(job.data.train->size()));
    job.options = range_options(job.options, range);
    train::check_options(job.options, rank.context().size());
    train::check_groups(job.options, *job.model);
    if (is_first) write_plot(range, report);
  });
  RealClock clock;
  observe::Progress progress = progress_of(clock, range, order);
  job.options.wants_to_stop = [&] { return report.test.has_diverged() || rank.wants_to_stop(); };
  job.options.on_step = [&](const StepReport& step) {
    const bool is_without_update = step.skipped && std::isfinite(step.loss);  // the loss scale was too high
    if (!is_without_update) report.test.add(step.learning_rate, step.loss);
    if (is_first) progress.step(step);
  };
  return rank.run([&] {
    Trainer trainer(rank.context(), job.model, job.output(), job.output_loss(), job.options);
    const TrainingReport training = trainer.fit(job.data.train);
    report.is_interrupted = training.end == TrainingEnd::kStopped && !report.test.has_diverged();
    if (is_first) {
      progress.close();
      write_plot(range, report);
      std::cout << (order.json ? lr_range_json(report) : lr_range_text(report, screen_of(order)))
                << std::flush;
    }
    return report.is_interrupted ? 130 : 0;
  });
}

}  // namespace cohort::tool
