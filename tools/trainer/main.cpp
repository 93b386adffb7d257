#include "job.h"

#include <CLI/CLI.hpp>
#include <c10/util/Exception.h>
#include <chrono>
#include <iostream>
#include <thread>

namespace {

// As of the tool: 1 outcome of the world, 2 the user's mistake, 70 a bug.
int exit_code_of(const cohort::Error& error) {
  if (error.code() == cohort::ErrorCode::kUsage) return 2;
  return error.code() == cohort::ErrorCode::kBug ? 70 : 1;
}

int train(const cohort::tool::JobOrder& order) {
  try {
    if (!order.dry_run) return run_job(order);
    show_plan(order);
    return 0;
  } catch (const cohort::tool::FailedElsewhere&) {
    // Whoever started the ranks takes the first that ends for the one at fault: this one leaves it the time to end.
    std::this_thread::sleep_for(std::chrono::seconds(2));
    return 1;
  } catch (const cohort::Error& error) {
    std::cerr << "cohort: " << error.text() << "\n";
    return exit_code_of(error);
  } catch (const c10::Error& error) {
    std::cerr << "cohort: torch: " << error.what_without_backtrace() << "\n";
    return 1;
  } catch (const std::exception& error) {
    std::cerr << "cohort: " << error.what() << "\n";
    return 70;
  }
}

}  // namespace

int main(int argc, char** argv) {
  cohort::tool::JobOrder order;
  CLI::App app("One rank of a training job; started by `cohort train`", "cohort-trainer");
  app.add_option("job", order.file, "The job file")->required();
  app.add_option("--set", order.overrides, "A key and its value")->take_all()->allow_extra_args(false);
  app.add_flag("--json", order.json, "One JSON object at the end");
  app.add_flag("--dry-run", order.dry_run, "Print the plan, train nothing");
  app.add_option("--world", order.world, "How many ranks the plan is for");
  app.add_flag("-v", order.verbosity, "Say more");
  app.add_option("--terminal", order.terminal_columns, "Output goes to a terminal this wide");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return train(order);
}
