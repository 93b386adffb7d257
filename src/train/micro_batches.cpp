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

void check_loss(const at::Tensor& loss) {
  check_is_one_number(loss);
  if (!loss.requires_grad()) {
    throw UsageError(
        UsageError("the loss that the objective returned does not depend on a parameter that is trained")
            .with_remedy("Compute it with the module, and without at::NoGradGuard or detach()."));
  }
}

MicroBatches::MicroBatches(const Parts& parts) : parts_(parts) {
  if (parts.summation == Summation::kByTree) sums_.emplace();
}

void MicroBatches::open(std::int64_t step, std::size_t count, const Load& load,
                        const StepPrecision& precision) {
  step_ = step;
  precision_ = precision;
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
      return load(key);
    case Verb::kForward:
      return forward(key);
    case Verb::kBackward:
      return backward(key);
    default:
      COHORT_CHECK(false, "{}", action.text());
  }
}

void MicroBatches::load(Key key) {
  Loaded loaded = (*load_)(key.second);
  carried_[key].batch = std::move(loaded.batch);
  carried_[key].standing = loaded.standing;
}

void MicroBatches::begin_micro_batch(Carried& first) {
  if (sums_) {
    parts_.intake.begin_round();  // the gradients of each micro-batch are summed on their own
  } else {
    parts_.intake.begin_backward();
  }
  first.position = losses_.size();
  losses_.push_back(0);
  weights_.push_back(0);
  if (first.batch.samples.empty()) return;
  first.input = first.batch.input;
  parts_.buffers.open_slot();
}

void MicroBatches::forward(Key key) {
  Carried& here = carried_[key];
  if (key.first == 0) begin_micro_batch(here);
  if (!here.batch.samples.empty()) {
    seed_random_layers(key, here.batch);
    parts_.layers.set_standing(here.standing);
    here.output = parts_.computation.forward(key.first, fitted(key.first, here.input), compute_of(key.first));
    if (is_last(key)) judge(key);
  }
  if (!is_last(key)) hand_on(key);
}

// Random layers of Cohort draw by position; random layers of torch share one generator.
void MicroBatches::seed_random_layers(Key key, const Batch& batch) {
  const auto step = static_cast<std::uint64_t>(step_);
  RandomStream stream(parts_.seed, step);
  if (key.first > 0) stream = stream.substream(static_cast<std::uint64_t>(key.first));
  torch::manual_seed(stream.bits(static_cast<std::uint64_t>(key.second)));
  set_step(parts_.module, {.seed = parts_.seed, .step = step, .samples = batch.samples});
}

// The next stage begins a graph of its own, so that its backward can run apart from that of this stage.
void MicroBatches::hand_on(Key key) {
  Carried& here = carried_[key];
  Carried& next = carried_[{key.first + 1, key.second}];
  next.position = here.position;
  next.batch = std::move(here.batch);
  next.standing = here.standing;
  if (!here.output.defined()) return;
  next.input = here.output.detach().set_requires_grad(here.output.requires_grad());
}

void MicroBatches::judge(Key key) {
  Carried& here = carried_[key];
  Evaluation evaluation =
      parts_.computation.loss(fitted(key.first, here.output), here.batch, compute_of(key.first));
  check_loss(evaluation.loss);
  if (here.standing == nn::Standing::kStandIn) {
    here.output = evaluation.loss * 0;
    return;
  }
  if (parts_.loss_factor != 1) {
    evaluation.loss = evaluation.loss * parts_.loss_factor;
    evaluation.weight *= parts_.loss_factor;
  }
  const double loss = evaluation.loss.item<double>();
  if (!std::isfinite(loss)) note_overflow(key);
  here.output = evaluation.loss;
  if (!std::isfinite(loss) && tally_.bad_slot < 0) {
    tally_.bad_slot = key.second;
    bad_loss_ = loss;
  }
  losses_[here.position] = loss;
  weights_[here.position] = evaluation.weight;
  tally_.samples += static_cast<double>(here.batch.samples.size());
  tally_.correct += evaluation.correct;
  tally_.counted += evaluation.counted;
  parts_.buffers.slot_done(evaluation.weight);
}

ComputeType MicroBatches::compute_of(int stage) const {
  return precision_.is_f32(stage) ? ComputeType::kF32 : parts_.precision.compute;
}

// A stage that computes in f32 for a while gets the bf16 output of the stage before it as f32.
at::Tensor MicroBatches::fitted(int stage, const at::Tensor& input) const {
  const bool is_narrow = input.defined() && input.scalar_type() == at::kBFloat16;
  return is_narrow && precision_.is_f32(stage) ? input.to(at::kFloat) : input;
}

// The stage where values left the range: the first one whose output is not finite, or else the last, with
// the loss. Stages keep their outputs until backward.
void MicroBatches::note_overflow(Key key) {
  if (!parts_.precision.fallback_steps) return;
  for (int stage = 0; stage <= key.first; ++stage) {
    const at::Tensor& output = carried_[{stage, key.second}].output;
    const bool is_here = output.defined() && !output.detach().isfinite().all().item<bool>();
    if (!is_here && stage < key.first) continue;
    tally_.overflow_stages |= StepPrecision::bit_of(stage);
    return;
  }
}

// Backward goes from the last stage to the first: the stage whose gradients overflow first is the one whose
// own gradient, of its output, was finite.
void MicroBatches::note_overflow_of_gradients(Key key, const at::Tensor& of_input) {
  if (!parts_.precision.fallback_steps || !of_input.defined() || tally_.bad_slot >= 0) return;
  if (tally_.overflow_stages != 0 || of_input.isfinite().all().item<bool>()) return;
  tally_.overflow_stages |= StepPrecision::bit_of(key.first);
}

void MicroBatches::backward(Key key) {
  Carried& here = carried_[key];
  if (is_last(key) && --num_left_ == 0) parts_.intake.expect_last();
  const bool is_empty = !here.output.defined();
  const bool is_used = is_last(key) || here.gradient.defined();
  if (!is_empty && is_used) {
    const GradientPool::Use use(parts_.buckets.pool());
    if (is_last(key) && precision_.loss_scale != 1) {
      here.gradient = at::full_like(here.output, precision_.loss_scale);
    }
    here.output.backward(here.gradient);
    here.output = at::Tensor();
    if (key.first > 0) {
      carried_[{key.first - 1, key.second}].gradient = here.input.grad();
      note_overflow_of_gradients(key, here.input.grad());
    }
  }
  carried_.erase(key);
  if (key.first > 0) return;
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
