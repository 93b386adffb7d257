#include "train/micro_batches.h"

#include "base/check.h"
#include "train/evaluator.h"
#include <cohort/dropout.h>
#include <cohort/random.h>

#include <ATen/ATen.h>
#include <cmath>
#include <cstring>
#include <torch/nn/module.h>
#include <torch/utils.h>

namespace cohort::train {
namespace {

void check_loss(const at::Tensor& loss) {
  check_is_one_number(loss);
  if (!loss.requires_grad()) {
    throw UsageError(
        UsageError("the loss that the objective returned does not depend on a parameter that is trained")
            .with_remedy("Compute it with the module, and without at::NoGradGuard or detach()."));
  }
}

}  // namespace

MicroBatches::MicroBatches(const Parts& parts) : parts_(parts) {
  if (parts.summation == Summation::kByTree) sums_.emplace();
}

void MicroBatches::open(std::int64_t step, std::size_t count, const Load& load) {
  step_ = step;
  COHORT_CHECK_GE(count, 1u, "a rank without micro-batches would never end a round");
  count_ = num_left_ = count;
  load_ = &load;
  carried_.clear();
  tally_ = {};
  losses_.clear();
  weights_.clear();
  parts_.intake.begin_round();
  parts_.buffers.open();
}

Tally MicroBatches::tally() const {
  Tally tally = tally_;
  tally.loss = tally.bad_slot < 0 ? sum_as_tree(losses_) : bad_loss_;
  tally.weight = weight();
  return tally;
}

void MicroBatches::perform(const Action& action) {
  const Key key(action.stage.value_or(0), *action.micro_batch);
  switch (action.verb) {
    case Verb::kLoad:
      carried_[key].batch = (*load_)(*action.micro_batch);
      return;
    case Verb::kForward:
      return forward(action, carried_[key]);
    case Verb::kBackward:
      backward(carried_[key]);
      carried_.erase(key);
      return;
    default:
      COHORT_CHECK(false, "{}", action.text());
  }
}

void MicroBatches::forward(const Action& action, Carried& carried) {
  if (sums_) {
    parts_.intake.begin_round();  // the gradients of each micro-batch are summed on their own
  } else {
    parts_.intake.begin_backward();
  }
  const Batch& batch = carried.batch;
  losses_.push_back(0);
  weights_.push_back(0);
  if (batch.samples.empty()) return;
  const auto step = static_cast<std::uint64_t>(step_);
  // Random layers of Cohort draw by position; random layers of torch share one generator.
  torch::manual_seed(RandomStream(parts_.seed, step).bits(static_cast<std::uint64_t>(*action.micro_batch)));
  set_step(parts_.module, {.seed = parts_.seed, .step = step, .samples = batch.samples});
  parts_.buffers.open_slot();
  const Evaluation evaluation = parts_.objective(batch);
  check_loss(evaluation.loss);
  carried.loss = evaluation.loss;
  const double loss = carried.loss.item<double>();
  if (!std::isfinite(loss) && tally_.bad_slot < 0) {
    tally_.bad_slot = *action.micro_batch;
    bad_loss_ = loss;
  }
  losses_.back() = loss;
  weights_.back() = evaluation.weight;
  tally_.samples += static_cast<double>(batch.samples.size());
  tally_.correct += evaluation.correct;
  tally_.counted += evaluation.counted;
  parts_.buffers.slot_done(evaluation.weight);
}

void MicroBatches::backward(Carried& carried) {
  const bool is_empty = carried.batch.samples.empty();
  if (--num_left_ == 0) parts_.intake.expect_last();
  if (!is_empty) {
    const GradientPool::Use use(parts_.buckets.pool());
    carried.loss.backward();
    carried.loss = at::Tensor();
  }
  if (sums_) add_to_sums(is_empty);
  if (num_left_ == 0) parts_.intake.end_round();
}

void MicroBatches::add_to_sums(bool is_empty) {
  const Numbers gradients = parts_.buckets.all_gradients();
  if (is_empty) {
    std::memset(gradients.data, 0, gradients.size_bytes());
  } else {
    for (std::size_t p = 0; p < parts_.buckets.parameters().size(); ++p) {
      if (!parts_.intake.has_arrived(p)) parts_.buckets.gradient(p).zero_();
    }
  }
  sums_->add({reinterpret_cast<float*>(gradients.data), gradients.count}, count_ - num_left_ - 1, count_);
}

}  // namespace cohort::train
