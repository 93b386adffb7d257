// Resuming on every kind of communicator. Numbers have many digits, so that sums depend on the order in which
// a kind adds them, and with it on the buckets.

#include "train/conformance/training.h"

#include "comm/shared_memory/arena.h"
#include "storage/temporary_directory.h"
#include "train/small_models.h"

#include <ATen/Parallel.h>
#include <array>
#include <cstring>

namespace cohort::test {
namespace {

/// Uses its layers in the reverse of their order, so that gradients arrive in another order than expected.
struct Crossed : torch::nn::Module {
  Crossed() {
    const at::NoGradGuard no_grad;
    std::uint64_t stream = 0;
    for (at::Tensor& parameter : parameters()) {
      fill_uniform(parameter, RandomStream(3, stream++), -0.5, 0.5);
    }
  }
  at::Tensor forward(const at::Tensor& input) { return second(at::tanh(first(input))); }

  torch::nn::Linear second = register_module("second", torch::nn::Linear(37, 3));
  torch::nn::Linear first = register_module("first", torch::nn::Linear(6, 37));
};

// The folder that rank 0 has made.
std::string folder_of_all(Communicator& group, const TemporaryDirectory& mine) {
  std::array<char, 256> name{};
  std::strncpy(name.data(), mine.path().c_str(), name.size() - 1);
  const Numbers bytes{name.data(), name.size(), DType::kU8};
  value_or_throw(group.run(broadcast(bytes, 0)));
  return name.data();
}

TrainingReport train(Communicator& group, Arena& arena, const TrainerOptions& options) {
  const auto net = std::make_shared<Crossed>();
  Trainer trainer(group, arena, net, cross_entropy(net), options);
  return trainer.fit(std::make_shared<RoughNumbers>(96));
}

void resume_everywhere(Communicator& group, Arena& arena) {
  const TemporaryDirectory mine;
  TrainerOptions options{.optimizer = {.kind = OptimizerKind::kAdam, .learning_rate = 0.01},
                         .clip_grad_norm = 0.1,
                         .batch_size = 16,
                         .bucket_bytes = 256};
  const TrainingReport expected = train(group, arena, options);
  options.checkpoint = CheckpointOptions{.directory = folder_of_all(group, mine), .every_steps = 2};
  options.steps = 3;
  EXPECT_EQ(train(group, arena, options).saved_step, 3);
  options.steps.reset();
  options.resume = "";
  const TrainingReport resumed = train(group, arena, options);
  EXPECT_EQ(resumed.resumed->step, 3);
  EXPECT_EQ(resumed.steps, 6);
  EXPECT_EQ(resumed.parameters_hash, expected.parameters_hash);
  value_or_throw(group.run(barrier()));  // the folder is rank 0's
}

TEST_P(Training, AResumedRunHasTheBitsOfOneWithoutInterruption) {
  for (const int world : {2, 3, 4}) {
    run(world, [](Seat& seat) -> Status {
      at::set_num_threads(1);
      std::unique_ptr<Arena> own;
      if (seat.arena == nullptr) {
        COHORT_ASSIGN_OR_RETURN(own, Arena::create(std::size_t{64} << 20));
      }
      resume_everywhere(*seat, seat.arena != nullptr ? *seat.arena : *own);
      return {};
    });
  }
}

}  // namespace
}  // namespace cohort::test
