// Training that goes on when ranks are lost, from copies in memory, to the same result as without a loss:
// cohort run -n 4 --on-rank-loss tell PROGRAM 2 3 loses the members 2 and 3.
#include <ATen/ATen.h>
#include <cohort/context.h>
#include <cohort/error.h>
#include <cohort/random.h>
#include <cohort/state_copies.h>
#include <cohort/tensor.h>
#include <cohort/trainer.h>
#include <csignal>
#include <iostream>
#include <set>
#include <string>
#include <torch/nn/functional/loss.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/utils.h>

// Points of the plane; the class says whether a point is in the circle.
struct Points : cohort::Dataset {
  std::int64_t size() const override { return 1000; }

  cohort::Sample at(std::int64_t index) const override {
    at::Tensor point = at::empty({2});
    cohort::fill_uniform(point, cohort::RandomStream(3, static_cast<std::uint64_t>(index)), -1, 1);
    return {point, (point.square().sum() < 0.6).to(at::kLong)};
  }
};

struct Net : torch::nn::Module {
  torch::nn::Linear first = register_module("first", torch::nn::Linear(2, 32));
  torch::nn::Linear last = register_module("last", torch::nn::Linear(32, 2));
  at::Tensor forward(const at::Tensor& input) { return last(at::tanh(first(input * 3))); }
};

// Trains on the ranks that there are.
cohort::TrainingReport train(cohort::Context& context, cohort::StateCopies& copies, bool will_be_lost) {
  torch::manual_seed(1);
  auto net = std::make_shared<Net>();
  std::int64_t step = 0;
  const auto objective = cohort::mean_loss([&](const cohort::Batch& batch) {
    if (will_be_lost && step == 50) std::raise(SIGKILL);
    return torch::nn::functional::cross_entropy(net->forward(batch.input), batch.target);
  });
  cohort::Trainer trainer(context, net, objective,
                          {.optimizer = {.kind = cohort::OptimizerKind::kAdamW, .learning_rate = 0.05},
                           .batch_size = 64,
                           .micro_batches = 4,
                           .epochs = 6,
                           .deterministic = cohort::Deterministic::kAnyWorld,
                           .copies = &copies,
                           .on_step = [&](const cohort::StepReport& seen) { step = seen.step; }});
  return trainer.fit(std::make_shared<Points>());
}

int main(int argc, char** argv) try {
  cohort::Context context;
  const std::set<std::string> victims(argv + 1, argv + argc);
  const bool will_be_lost = victims.contains(std::to_string(context.id()));
  cohort::StateCopies copies(context);  // outlives generations and trainers
  while (true) {
    try {
      const auto report = train(context, copies, will_be_lost);
      if (context.rank() == 0) {
        if (report.resumed) std::cout << "went on from step " << report.resumed->step << ", ";
        std::cout << report.steps << " steps, parameters " << report.parameters_hash << std::endl;
      }
      context.barrier();
      return report.loss < 0.3 ? 0 : 1;
    } catch (const cohort::Error& error) {
      if (error.code() != cohort::ErrorCode::kPeerLost && error.code() != cohort::ErrorCode::kAborted) throw;
      std::cerr << error.text() << "\n";
      if (will_be_lost) std::raise(SIGKILL);  // with the others
      context.form(context.survivors());      // the same list on every member that is left
    }
  }
} catch (const cohort::Error& error) {
  std::cerr << error.text() << "\n";
  return 1;
}
