#include "train/tensor_update.h"

#include "base/result.h"
#include "layout/slice.h"
#include "state/row_major.h"
#include "train/tensor_pieces.h"
#include "update/momentum.h"
#include "update/whole_tensor.h"

#include <ATen/core/Tensor.h>
#include <algorithm>
#include <fmt/format.h>

namespace cohort::train {

UpdateStep StepTerms::step_of(const ParameterUpdate& how) const {
  return {.count = how.count + 1,
          .learning_rate = learning_rate * how.rate_factor,
          .gradient_scale = gradient_scale,
          .clip_value = clip_value};
}

OptimizerSettings StepTerms::optimizer_of(const ParameterUpdate& how) const {
  OptimizerSettings optimizer = how.optimizer;
  if (momentum) set_momentum(optimizer, *momentum);
  return optimizer;
}

std::vector<std::uint8_t> two_pass_buckets(const BucketLayout& layout,
                                           std::span<const ParameterUpdate> updates) {
  std::vector<std::uint8_t> flags;
  for (const Bucket& bucket : layout.buckets) {
    const bool has_one = std::any_of(
        bucket.entries.begin(), bucket.entries.end(),
        [&](const BucketEntry& entry) { return update::has_two_passes(updates[entry.parameter].optimizer); });
    flags.push_back(has_one ? 1 : 0);
  }
  return flags;
}

TensorUpdate::TensorUpdate(const BucketSet& buckets, const std::vector<ParameterUpdate>& updates, int slice,
                           int world)
    : updates_(updates) {
  std::vector<double> costs;
  for (std::size_t p = 0; p < updates.size(); ++p) {
    const at::Tensor& parameter = buckets.parameters()[p];
    Tensor& tensor = tensors_.emplace_back();
    tensor.shape.assign(parameter.sizes().begin(), parameter.sizes().end());
    tensor.order = order_in_memory(parameter);
    tensor.has_two_passes = update::has_two_passes(updates[p].optimizer);
    tensor.needs = update::needs_of(updates[p].optimizer, tensor.shape);
    costs.push_back(update::is_whole(tensor.needs) ? whole_cost(updates[p].optimizer, tensor.shape) : 0);
  }
  const bool has_whole = std::any_of(tensors_.begin(), tensors_.end(),
                                     [](const Tensor& each) { return update::is_whole(each.needs); });
  if (has_whole) {
    exchange_ = std::make_unique<TensorExchange>(owners_by_cost(costs, world), slice, world);
    for (std::size_t p = 0; p < tensors_.size(); ++p) {
      if (!exchange_->owns(p)) continue;
      for (const WholeState& each : whole_state(updates[p].optimizer, tensors_[p].shape)) {
        tensors_[p].state.emplace_back(num_elements(each.shape), 0.0f);
      }
    }
  }
  fit_to(buckets.layout());
}

void TensorUpdate::fit_to(const BucketLayout& layout) {
  passes_.clear();
  passes_.resize(layout.buckets.size());
  if (exchange_ != nullptr) exchange_->fit_to(layout);
}

void TensorUpdate::open(std::size_t bucket, float* directions) {
  passes_[bucket] = {};
  passes_[bucket].directions = directions;
}

TensorSums* TensorUpdate::add(std::size_t bucket, const BucketEntry& entry) {
  Pass& pass = passes_[bucket];
  const bool has_norms = update::has_norms(tensors_[entry.parameter].needs);
  pass.parameters.push_back(entry.parameter);
  pass.sums.push_back(has_norms ? std::make_unique<TensorSums>() : nullptr);
  return pass.sums.back().get();
}

void TensorUpdate::combine(Communicator& group, const StepTerms& terms) {
  std::vector<std::uint8_t> used(tensors_.size());
  for (Tensor& each : tensors_) each.sums = {};
  for (const Pass& pass : passes_) {
    for (std::size_t i = 0; i < pass.parameters.size(); ++i) {
      used[pass.parameters[i]] = 1;
      if (pass.sums[i] != nullptr) tensors_[pass.parameters[i]].sums.add(*pass.sums[i]);
    }
  }
  add_norms(group, used);
  for (std::size_t p = 0; p < tensors_.size(); ++p) {
    if (used[p] == 0) continue;
    tensors_[p].factor = tensor_factor(terms.optimizer_of(updates_[p]), tensors_[p].shape, tensors_[p].sums);
    if (!update::is_whole(tensors_[p].needs)) used[p] = 0;
  }
  if (exchange_ != nullptr) {
    std::vector<float*> slices;
    for (const Pass& pass : passes_) slices.push_back(pass.directions);
    auto tensors = exchange_->gather(group, slices, used);
    for (std::size_t p = 0; p < tensors.size(); ++p) compute(p, terms, tensors[p]);
    exchange_->scatter(group, tensors, slices, used);
  }
  for (Pass& pass : passes_) pass = {};
}

// One message for all tensors. Sums are exact, so that their bits do not depend on the number of ranks.
void TensorUpdate::add_norms(Communicator& group, std::span<const std::uint8_t> used) {
  constexpr std::size_t kBytes = ExactSum::kPackedBytes;
  std::vector<TensorSums*> sums;
  for (std::size_t p = 0; p < tensors_.size(); ++p) {
    if (used[p] != 0 && update::has_norms(tensors_[p].needs)) sums.push_back(&tensors_[p].sums);
  }
  if (sums.empty() || group.size() == 1) return;
  std::vector<std::byte> mine(sums.size() * 2 * kBytes),
      all(mine.size() * static_cast<std::size_t>(group.size()));
  const auto at = [](std::vector<std::byte>& bytes, std::size_t index) {
    return std::span<std::byte, kBytes>(bytes.data() + index * kBytes, kBytes);
  };
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i]->parameters.pack(at(mine, 2 * i));
    sums[i]->directions.pack(at(mine, 2 * i + 1));
  }
  value_or_throw(
      group.run(all_gather({mine.data(), mine.size(), DType::kU8}, {all.data(), all.size(), DType::kU8}))
          .within("the norms of tensors were not added up"));
  for (TensorSums* each : sums) *each = {};
  for (std::size_t i = 0; i < sums.size() * static_cast<std::size_t>(group.size()); ++i) {
    TensorSums& sum = *sums[i % sums.size()];
    sum.parameters.add(ExactSum::unpack(at(all, 2 * i)));
    sum.directions.add(ExactSum::unpack(at(all, 2 * i + 1)));
  }
}

void TensorUpdate::compute(std::size_t parameter, const StepTerms& terms, std::vector<float>& directions) {
  if (directions.empty()) return;
  Tensor& tensor = tensors_[parameter];
  std::vector<std::span<float>> state(tensor.state.begin(), tensor.state.end());
  state::RowMajorPieces in_rows({{.dtype = DType::kF32,
                                  .shape = tensor.shape,
                                  .mine = whole(shape_in_memory(tensor.shape, tensor.order)),
                                  .bytes = std::as_writable_bytes(std::span(directions)),
                                  .order = tensor.order}});
  in_rows.read();
  const std::span<std::byte> bytes = in_rows.pieces().front().bytes;
  whole_pass(terms.optimizer_of(updates_[parameter]), terms.step_of(updates_[parameter]),
             {.shape = tensor.shape,
              .directions = {reinterpret_cast<float*>(bytes.data()), directions.size()},
              .state = state,
              .parameter_squares = tensor.sums.parameters.value()});
  in_rows.write();
}

void TensorUpdate::visit(std::span<const std::string> names, const StateVisitor& visitor) {
  for (std::size_t p = 0; p < tensors_.size(); ++p) {
    const std::vector<WholeState> kept = whole_state(updates_[p].optimizer, tensors_[p].shape);
    for (std::size_t i = 0; i < tensors_[p].state.size(); ++i) {
      visitor({.name = fmt::format("{}/{}", names[p], kept[i].name),
               .dtype = DType::kF32,
               .shape = kept[i].shape,
               .mine = whole(kept[i].shape),
               .bytes = std::as_writable_bytes(std::span(tensors_[p].state[i]))});
    }
  }
}

std::size_t TensorUpdate::size_bytes() const {
  std::size_t count = 0;
  for (const Tensor& tensor : tensors_) {
    for (const std::vector<float>& each : tensor.state) count += each.size();
  }
  return count * sizeof(float);
}

}  // namespace cohort::train
