#include "base/error_codes.h"
#include "bench_step.h"
#include "config/option_keys.h"
#include "job.h"
#include "use_model.h"

#include <CLI/CLI.hpp>
#include <c10/util/Exception.h>
#include <functional>
#include <iostream>

namespace {

int run(const std::function<int()>& work) {
  try {
    return work();
  } catch (const cohort::tool::FailedElsewhere& elsewhere) {
    return elsewhere.exit_code;
  } catch (const cohort::Error& error) {
    std::cerr << "cohort: " << cohort::config::with_keys(error.text()) << "\n";
    return cohort::exit_code_of(error.code());
  } catch (const c10::Error& error) {
    std::cerr << "cohort: torch: " << error.what_without_backtrace() << "\n";
    return 1;
  } catch (const std::exception& error) {
    std::cerr << "cohort: " << error.what() << "\n";
    return 70;
  }
}

// Options that `cohort bench step` passes; hidden in the help.
CLI::Option* add_bench_options(CLI::App& app, cohort::tool::BenchStepOrder& order) {
  CLI::Option* model = app.add_option("--bench-step", order.model)->group("");
  app.add_option("--group", order.group)->group("");
  app.add_option("--way", order.way)->group("");
  app.add_option("--batch-norm", order.batch_norm)->group("");
  app.add_option("--precision", order.precision)->group("");
  app.add_option("--optimizer", order.optimizer)->group("");
  app.add_option("--momentum", order.momentum)->group("");
  app.add_option("--learning-rate", order.learning_rate)->group("");
  app.add_option("--batch", order.batch)->group("");
  return model;
}

// Options that `cohort evaluate` passes.
CLI::Option* add_evaluate_options(CLI::App& app, cohort::tool::EvaluateOrder& order) {
  CLI::Option* model = app.add_option("--evaluate", order.model)->group("");
  app.add_option("--data", order.data)->group("");
  app.add_option("--part", order.part)->group("");
  return model;
}

// Options that `cohort predict` passes.
CLI::Option* add_predict_options(CLI::App& app, cohort::tool::PredictOrder& order) {
  CLI::Option* model = app.add_option("--predict", order.model)->group("");
  app.add_option("--input", order.input)->group("");
  app.add_option("--index", order.index)->group("");
  app.add_option("--tokens", order.tokens)->group("");
  app.add_option("--temperature", order.temperature)->group("");
  app.add_option("--top-k", order.top_k)->group("");
  app.add_option("--seed", order.seed)->group("");
  return model;
}

}  // namespace

int main(int argc, char** argv) {
  cohort::tool::JobOrder order;
  cohort::tool::BenchStepOrder bench;
  cohort::tool::EvaluateOrder evaluation;
  cohort::tool::PredictOrder prediction;
  CLI::App app("One rank of a training job; started by `cohort train`", "cohort-trainer");
  CLI::Option* job = app.add_option("job", order.file, "The job file");
  CLI::Option* bench_step = add_bench_options(app, bench);
  CLI::Option* evaluate = add_evaluate_options(app, evaluation);
  CLI::Option* predict = add_predict_options(app, prediction);
  app.add_option("--set", order.overrides, "A key and its value")->take_all()->allow_extra_args(false);
  app.add_flag("--resume{newest}", order.resume, "Go on from a snapshot");
  app.add_flag("--json", order.json, "One JSON object at the end");
  app.add_flag("--dry-run", order.dry_run, "Print the plan, train nothing");
  app.add_option("--world", order.world, "How many ranks the plan is for");
  app.add_option("--host-ranks", order.host_ranks, "How many ranks each host has in the plan")
      ->delimiter(',');
  app.add_flag("-v", order.verbosity, "Say more");
  app.add_option("--terminal", order.terminal_columns, "Output goes to a terminal this wide");
  try {
    app.parse(argc, argv);
    const bool has_task = !bench_step->empty() || !evaluate->empty() || !predict->empty();
    if (job->empty() && !has_task) throw CLI::RequiredError("job");
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  prediction.json = order.json;
  return run([&] {
    if (!evaluate->empty()) return evaluate_model(evaluation, order), 0;
    if (!predict->empty()) return predict_with_model(prediction), 0;
    if (!bench_step->empty()) return serve_bench_steps(bench), 0;
    if (order.dry_run) return show_plan(order), 0;
    return run_job(order);
  });
}
