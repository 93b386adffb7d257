#pragma once

#include "spans.h"
#include "update/two_passes.h"
#include "update/whole_tensor.h"

#include <algorithm>
#include <vector>

namespace cohort {

/// Optimizers that make two passes.
inline std::vector<OptimizerCase> tensor_optimizers() {
  return {
      {"lamb", {.kind = OptimizerKind::kLamb}},
      {"lars", {.kind = OptimizerKind::kLars}},
      {"lars_plain", {.kind = OptimizerKind::kLars, .momentum = 0, .trust_coefficient = 0.5}},
      {"lars_nesterov", {.kind = OptimizerKind::kLars, .nesterov = true, .trust_coefficient = 0.25}},
      {"adafactor", {.kind = OptimizerKind::kAdafactor}},
      {"adafactor_slow", {.kind = OptimizerKind::kAdafactor, .beta2_decay = -0.5, .eps2 = 0.25, .d = 2}},
      {"muon", {.kind = OptimizerKind::kMuon}},
      {"muon_classic", {.kind = OptimizerKind::kMuon, .nesterov = false}},
      {"muon_plain", {.kind = OptimizerKind::kMuon, .momentum = 0, .nesterov = false}},
      {"muon_matched", {.kind = OptimizerKind::kMuon, .maximize = true, .match_rms_adamw = true}},
      {"muon_classic_iteration",
       {.kind = OptimizerKind::kMuon, .ns_steps = 3, .ns_coefficients = {1.875, -1.25, 0.375}}},
  };
}

inline const std::vector<Shape>& awkward_shapes() {
  static const std::vector<Shape> kShapes = {{},      {0},      {1},          {31},   {3, 5},
                                             {17, 1}, {1, 33},  {4, 3, 5},    {0, 3}, {2, 3, 2, 3},
                                             {61, 7}, {16, 33}, {37, 5, 1, 1}};
  return kShapes;
}

/// A parameter of one shape, with all that its optimizer keeps.
class TensorArrays {
 public:
  TensorArrays(OptimizerSettings settings, Shape shape, std::uint64_t seed)
      : settings_(std::move(settings)),
        shape_(std::move(shape)),
        seed_(seed),
        arrays(settings_, num_elements_of(shape_), seed) {
    for (const WholeState& each : whole_state(settings_, shape_)) {
      state.emplace_back(num_elements_of(each.shape), 0.0f);
    }
  }

  /// Both passes, with spans of `piece` elements.
  void apply(const UpdateStep& step, std::size_t piece) {
    UpdateSpans whole = arrays.spans();
    std::vector<float> directions = arrays.gradients;
    const std::size_t count = directions.size();
    whole.gradients = {};
    whole.directions = directions.data();
    TensorSums sums;
    for (std::size_t first = 0; first < count; first += piece) {
      TensorSums part;
      first_pass(settings_, step, whole.subspan(first, std::min(piece, count - first)), &part);
      sums.add(part);
    }
    std::vector<std::span<float>> spans(state.begin(), state.end());
    const update::Needs needs = update::needs_of(settings_, shape_);
    if (update::is_whole(needs)) {
      whole_pass(settings_, step, {shape_, directions, spans, sums.parameters.value()});
    }
    UpdateStep second = step;
    second.tensor_factor = tensor_factor(settings_, shape_, sums);
    whole.gradients = directions;
    whole.directions = nullptr;
    for (std::size_t first = 0; first < count; first += piece) {
      cohort::apply(settings_, second, whole.subspan(first, std::min(piece, count - first)));
    }
  }

  void new_gradients(std::uint64_t step) { arrays.new_gradients(seed_, step); }
  bool operator==(const TensorArrays& other) const { return arrays == other.arrays && state == other.state; }

 private:
  OptimizerSettings settings_;
  Shape shape_;
  std::uint64_t seed_;

 public:
  Arrays arrays;
  std::vector<std::vector<float>> state;
};

}  // namespace cohort
