#include "train/batches_objective.h"

#include "train/curvature_product.h"
#include "train/micro_batches.h"
#include <cohort/dropout.h>
#include <cohort/random.h>

#include <ATen/ATen.h>
#include <algorithm>
#include <torch/csrc/autograd/autograd.h>
#include <torch/nn/module.h>
#include <torch/utils.h>

namespace cohort::train {

BatchesObjective::BatchesObjective(Parts parts, Buffers& buffers)
    : parts_(std::move(parts)), buffers_(buffers) {}

void BatchesObjective::open() {
  buffers_.open();
}

void BatchesObjective::close() {
  buffers_.merge();
}

// Announced slots that an exception has left are forgotten.
void BatchesObjective::for_each_batch(const std::function<void(const Batch& batch)>& body) {
  parts_.loader.forget();
  const std::uint64_t num_batches = parts_.plan.steps_per_epoch();
  std::uint64_t announced = 0;
  for (std::uint64_t number = 0; number < num_batches; ++number) {
    for (;
         announced < std::min<std::uint64_t>(number + static_cast<std::uint64_t>(parts_.ahead), num_batches);
         ++announced) {
      std::vector<SlotAddress> upcoming;
      for (const int slot : parts_.slots) upcoming.push_back({0, announced, slot});
      parts_.loader.expect(std::move(upcoming));
    }
    for (const int slot : parts_.slots) {
      const Batch batch = parts_.loader.take({0, number, slot});
      if (batch.samples.empty()) continue;
      seed_random_layers(
          batch, number * static_cast<std::uint64_t>(parts_.plan.slots()) + static_cast<std::uint64_t>(slot));
      buffers_.open_slot();
      body(batch);
    }
  }
}

// All evaluations have step 0, so that they draw alike.
void BatchesObjective::seed_random_layers(const Batch& batch, std::uint64_t number) {
  torch::manual_seed(RandomStream(parts_.seed, 0).bits(number));
  set_step(parts_.module, {.seed = parts_.seed, .step = 0, .samples = batch.samples});
}

LossOfRank BatchesObjective::evaluate(ParameterVector& sum) {
  LossOfRank all = parts_.wants ? parts_.wants() : LossOfRank{};
  buffers_.drop();  // those of an earlier trial of this iteration
  buffers_.open();
  for_each_batch([&](const Batch& batch) {
    const Evaluation found = parts_.computation(batch, ComputeType::kF32);
    check_loss(found.loss);
    const at::Tensor loss = parts_.loss_factor == 1 ? found.loss : found.loss * parts_.loss_factor;
    const auto gradients = torch::autograd::grad({loss}, sum.tensors(), {}, /*retain_graph=*/false,
                                                 /*create_graph=*/false, /*allow_unused=*/true);
    for (std::size_t p = 0; p < gradients.size(); ++p) sum.add(p, gradients[p]);
    all.loss += loss.item<double>();
    all.weight += found.weight * parts_.loss_factor;
    buffers_.slot_done(found.weight * parts_.loss_factor);
  });
  return all;
}

void BatchesObjective::multiply(const std::vector<at::Tensor>& vector, ParameterVector& sum) {
  for_each_batch([&](const Batch& batch) {
    const at::Tensor output = parts_.computation.output(batch);
    const auto loss = [&](const at::Tensor& of_output) {
      return parts_.computation.loss_of(of_output, batch).loss * parts_.loss_factor;
    };
    const auto products = curvature_product(output, loss, sum.tensors(), vector);
    for (std::size_t p = 0; p < products.size(); ++p) sum.add(p, products[p]);
  });
}

}  // namespace cohort::train
