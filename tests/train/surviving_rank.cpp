// A rank that trains, and goes on when others are lost, without a disk. Usage: surviving_rank MODE
// [ID:STEP…]. The member with this id kills itself when so many steps are done.
//
//   trainer  a Trainer, with evaluations
//   loop     a loop of the user's own

#include "small_models.h"

#include <cohort/cohort.h>
#include <csignal>
#include <iostream>
#include <optional>
#include <string>
#include <torch/optim/adam.h>

namespace {

using namespace cohort::test;
using cohort::Context;
using cohort::Error;
using cohort::ErrorCode;
using cohort::StateCopies;

constexpr std::int64_t kSteps = 40;

// How far this rank has come, and where it ends.
struct Life {
  std::optional<std::int64_t> last_step{};
  std::int64_t step = 0;

  void end_if_due() const {
    if (step == last_step) std::raise(SIGKILL);
  }
};

void say(Context& context, std::int64_t resumed, const std::string& result) {
  if (context.rank() == 0) {
    std::cout << "generation " << context.generation() << " of " << context.size() << " from step " << resumed
              << ": " << result << std::endl;
  }
}

// Victims end in the middle of a step.
void train(Context& context, StateCopies& copies, Life& life) {
  const torch::nn::Sequential net = small_net();
  const cohort::Objective loss = cross_entropy(net);
  cohort::Trainer trainer(
      context, net.ptr(),
      [&](const cohort::Batch& batch) {
        if (torch::GradMode::is_enabled()) life.end_if_due();
        return loss(batch);
      },
      {.optimizer = {.kind = cohort::OptimizerKind::kAdamW, .learning_rate = 0.01},
       .batch_size = 32,
       .micro_batches = 4,
       .epochs = kSteps / 4,
       .deterministic = cohort::Deterministic::kAnyWorld,
       .copies = &copies,
       .bucket_bytes = 64,
       .on_step = [&](const cohort::StepReport& seen) { life.step = seen.step; },
       .on_resume = [&](const cohort::ResumeReport& report) { life.step = report.step; }});
  const auto report = trainer.fit(std::make_shared<RoughNumbers>(100), std::make_shared<RoughNumbers>(20));
  say(context, report.resumed ? report.resumed->step : 0,
      report.parameters_hash + " " + std::to_string(report.best->step));
}

// Every rank does the same work, so that the result does not depend on the number of ranks.
void run_loop(Context& context, StateCopies& copies, Life& life) {
  torch::nn::Sequential net = small_net();
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(0.01));
  const std::int64_t first = copies.restore(*net, optimizer);
  for (std::int64_t step = first; step < kSteps; ++step) {
    life.step = step;
    life.end_if_due();
    at::Tensor input = at::empty({8, 6});
    cohort::fill_uniform(input, cohort::RandomStream(5, static_cast<std::uint64_t>(step)), -1, 1);
    optimizer.zero_grad();
    net->forward(input).square().sum().backward();
    optimizer.step();
    copies.keep(step + 1, *net, optimizer);
  }
  double sum = 0;
  for (const float number : numbers_of(*net)) sum = 3 * sum + number;
  say(context, first, std::to_string(sum));
}

void live(Context& context, const std::string& mode, Life life) {
  StateCopies copies(context);
  while (true) {
    try {
      if (mode == "trainer") train(context, copies, life);
      if (mode == "loop") run_loop(context, copies, life);
      context.barrier();
      return copies.give_back();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kPeerLost && error.code() != ErrorCode::kAborted) throw;
      life.end_if_due();  // a victim that learns of another one before it ends itself
      context.form(context.survivors());
    }
  }
}

}  // namespace

int main(int argc, char** argv) try {
  Context context;
  Life life;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (std::stoull(word) == context.id()) life.last_step = std::stoll(word.substr(word.find(':') + 1));
  }
  live(context, argc > 1 ? argv[1] : "", life);
  return 0;
} catch (const cohort::Error& error) {
  std::cout << "failed: " << name(error.code()) << ": " << error.text() << std::endl;
  return 3;
}
