// Optimizers that need norms or whole tensors, on every kind of communicator: with hosts of several ranks,
// slices have another order than ranks.

#include "train/conformance/training.h"

#include "comm/shared_memory/arena.h"
#include "train/small_models.h"
#include "update/tensors.h"

#include <ATen/Parallel.h>

namespace cohort::test {
namespace {

std::string trained_hash(Communicator& group, Arena& arena, const OptimizerSettings& optimizer) {
  auto net = with_fixed_numbers(
      torch::nn::Sequential(torch::nn::Linear(6, 37), torch::nn::Tanh(), torch::nn::Linear(37, 3)));
  Trainer trainer(group, arena, net.ptr(), cross_entropy(net),
                  {.optimizer = optimizer,
                   .batch_size = 16,
                   .micro_batches = 4,
                   .deterministic = Deterministic::kAnyWorld,
                   .bucket_bytes = 256});
  return trainer.fit(std::make_shared<RoughNumbers>(61)).parameters_hash;
}

TEST_P(Training, TensorOptimizersHaveTheBitsOfOneRank) {
  for (const int world : {2, 4}) {
    run(world, [](Seat& seat) -> Status {
      at::set_num_threads(1);
      std::unique_ptr<Arena> own;
      if (seat.arena == nullptr) {
        COHORT_ASSIGN_OR_RETURN(own, Arena::create(std::size_t{64} << 20));
      }
      Arena& arena = seat.arena != nullptr ? *seat.arena : *own;
      const auto alone = value_or_throw(seat->split(seat.index(), 0, "alone"));
      for (const OptimizerCase& each : tensor_optimizers()) {
        OptimizerSettings optimizer = each.settings;
        optimizer.weight_decay = 0.125;
        EXPECT_EQ(trained_hash(*seat, arena, optimizer), trained_hash(*alone, arena, optimizer)) << each.name;
      }
      return {};
    });
  }
}

}  // namespace
}  // namespace cohort::test
