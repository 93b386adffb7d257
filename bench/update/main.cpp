#include "measure/statistics.h"
#include "trial.h"

#include <ATen/Parallel.h>
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <malloc.h>
#include <nlohmann/json.hpp>

// Optimizer steps of Cohort and of libtorch by turns, on one thread and the same memory. The best decile is
// compared.

namespace cohort::bench {
namespace {

struct Case {
  std::string name;
  OptimizerSettings settings;
};

std::vector<Case> cases(double decay) {
  return {{"sgd", {.kind = OptimizerKind::kSgd, .momentum = 0, .weight_decay = decay}},
          {"momentum", {.kind = OptimizerKind::kSgd, .weight_decay = decay}},
          {"nesterov", {.kind = OptimizerKind::kSgd, .nesterov = true, .weight_decay = decay}},
          {"adam", {.kind = OptimizerKind::kAdam, .weight_decay = decay}},
          {"adamw", {.kind = OptimizerKind::kAdamW, .weight_decay = decay}}};
}

struct Row {
  std::string optimizer;
  std::string pass;
  double ours_ms = 0;
  double libtorch_ms = 0;

  double ratio() const { return ours_ms / libtorch_ms; }
};

template <class Body>
double nanoseconds_of(Body body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

Row measure(const Case& each, Extra extra, std::int64_t count, int rounds) {
  Trial trial(each.settings, count, extra);
  std::vector<double> ours, libtorchs;
  trial.ours();
  trial.libtorchs();
  for (int i = 0; i < rounds; ++i) {
    // The two sides take turns to begin, so that neither always runs after the other.
    const auto run_ours = [&] { ours.push_back(nanoseconds_of([&] { trial.ours(); })); };
    if (i % 2 == 0) run_ours();
    libtorchs.push_back(nanoseconds_of([&] { trial.libtorchs(); }));
    if (i % 2 == 1) run_ours();
  }
  return {.optimizer = each.name,
          .pass = extra == Extra::kNone ? "update" : "scale, clip, update",
          .ours_ms = measure::summarize(ours).p10_ns / 1e6,
          .libtorch_ms = measure::summarize(libtorchs).p10_ns / 1e6};
}

void print_table(const std::vector<Row>& rows) {
  std::printf("%-10s %-26s %9s %12s %7s\n", "optimizer", "pass", "ours ms", "libtorch ms", "ratio");
  for (const Row& row : rows) {
    std::printf("%-10s %-26s %9.2f %12.2f %7.3f\n", row.optimizer.c_str(), row.pass.c_str(), row.ours_ms,
                row.libtorch_ms, row.ratio());
  }
}

void print_json(const std::vector<Row>& rows, std::int64_t count, int rounds) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    list.push_back({{"optimizer", row.optimizer},
                    {"pass", row.pass},
                    {"ours_ms", row.ours_ms},
                    {"libtorch_ms", row.libtorch_ms},
                    {"ratio", row.ratio()}});
  }
  const nlohmann::ordered_json object = {{"elements", count}, {"rounds", rounds}, {"rows", list}};
  std::printf("%s\n", object.dump(2).c_str());
}

int run(int argc, char** argv) {
  CLI::App app("Optimizers, ours and libtorch's, by turns on the same memory, one thread.");
  std::int64_t count = 23'000'000;
  int rounds = 21;
  double decay = 0.01;
  bool as_json = false;
  app.add_option("--elements", count, "How many f32 parameters")->check(CLI::PositiveNumber);
  app.add_option("--rounds", rounds, "How often each is measured")->check(CLI::Range(5, 10'000));
  app.add_option("--weight-decay", decay, "The weight decay of every optimizer")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--json", as_json, "Print one object instead of a table");
  CLI11_PARSE(app, argc, argv);

  at::set_num_threads(1);
  constexpr int kAlways = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kAlways);
  mallopt(M_TRIM_THRESHOLD, kAlways);

  std::vector<Row> rows;
  for (const Extra extra : {Extra::kNone, Extra::kScaleClip}) {
    for (const Case& each : cases(decay)) rows.push_back(measure(each, extra, count, rounds));
  }
  as_json ? print_json(rows, count, rounds) : print_table(rows);
  return 0;
}

}  // namespace
}  // namespace cohort::bench

int main(int argc, char** argv) {
  try {
    return cohort::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cohort-bench-update: %s\n", error.what());
    return 1;
  }
}
