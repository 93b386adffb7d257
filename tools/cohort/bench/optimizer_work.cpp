#include "bench/optimizer_work.h"

#include "bench/operation_words.h"
#include "update/two_passes.h"
#include "update/whole_tensor.h"
#include <cohort/random.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace cohort::tool {
namespace {

// Small enough for the parameters to stay near 1 in any number of steps.
constexpr double kLearningRate = 1e-6;
// Gradients repeat after this many, which saves the time of drawing them; no cache has them when they do.
constexpr std::size_t kPeriod = 65537;

// In steps of whole cache lines, for that is how memory is read; the rest of the last line is left out. With
// a factor of 0 the arrays keep their values, which the compiler does not know.
template <std::size_t kArrays>
void add_to_each(float factor, const float* gradients, const std::vector<float*>& arrays, std::size_t count) {
  typedef float Line __attribute__((vector_size(64)));
  constexpr std::size_t kWidth = sizeof(Line) / sizeof(float);
  std::array<float*, kArrays> to;
  std::copy_n(arrays.begin(), kArrays, to.begin());
  for (std::size_t i = 0; i + kWidth <= count; i += kWidth) {
    Line gradient, sum;
    std::memcpy(&gradient, gradients + i, sizeof gradient);
    gradient *= factor;
    for (float* const array : to) {
      std::memcpy(&sum, array + i, sizeof sum);
      sum += gradient;
      std::memcpy(array + i, &sum, sizeof sum);
    }
  }
}

void draw(const SharedArray& gradients) {
  const RandomStream random(1, 0);
  float* const to = gradients.data();
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    to[i] = i < kPeriod ? static_cast<float>(random.normal(i)) : to[i - kPeriod];
  }
}

}  // namespace

Result<OptimizerWork> OptimizerWork::make(const WorkOrder& order) {
  const auto kind = optimizer_named(order.optimizer);
  if (!kind) return unknown_word("optimizer", order.optimizer, optimizer_names());
  if (order.work != kUpdateWork && order.work != kMemoryWork) {
    return unknown_word("work", order.work, {kUpdateWork, kMemoryWork});
  }
  const OptimizerSettings settings{.kind = *kind};
  const auto array = [&](std::string_view name, float value) {
    return SharedArray::open(fmt::format("{}/{}", order.folder, name), order.elements, value);
  };
  COHORT_ASSIGN_OR_RETURN(SharedArray parameters, array("parameters", 1));
  COHORT_ASSIGN_OR_RETURN(SharedArray gradients, array("gradients", 0));
  draw(gradients);
  OptimizerWork work(settings, order.work == kUpdateWork ? Kind::kUpdate : Kind::kMemory,
                     std::move(parameters), std::move(gradients));
  for (const std::string_view name : moment_names(settings)) {
    work.moments_.emplace_back();
    if (name.empty()) continue;
    COHORT_ASSIGN_OR_RETURN(SharedArray moment, array(name, first_moment_value(settings)));
    work.moments_.back().emplace(std::move(moment));
  }
  for (const WholeState& each : whole_state(settings, work.shape_)) {
    work.whole_state_.emplace_back(num_elements_of(each.shape));
  }
  return work;
}

void OptimizerWork::prepare() {
  if (kind_ == Kind::kUpdate && update::has_two_passes(settings_)) draw(gradients_);
}

void OptimizerWork::run() {
  kind_ == Kind::kUpdate ? update() : pass_over_memory();
}

UpdateSpans OptimizerWork::spans() const {
  UpdateSpans all{.parameters = {parameters_.data(), parameters_.size(), DType::kF32},
                  .gradients = {gradients_.data(), gradients_.size(), DType::kF32}};
  for (std::size_t i = 0; i < moments_.size(); ++i) {
    all.moments[i] = moments_[i] ? moments_[i]->data() : nullptr;
  }
  return all;
}

void OptimizerWork::update() {
  if (update::has_two_passes(settings_)) return update_in_two_passes();
  apply(settings_, {.count = ++steps_, .learning_rate = kLearningRate}, spans());
}

void OptimizerWork::update_in_two_passes() {
  UpdateStep step{.count = ++steps_, .learning_rate = kLearningRate};
  const update::Needs needs = update::needs_of(settings_, shape_);
  UpdateSpans all = spans();
  all.gradients = {};
  all.directions = gradients_.data();
  TensorSums sums;
  first_pass(settings_, step, all, update::has_norms(needs) ? &sums : nullptr);
  if (update::is_whole(needs)) {
    const std::vector<std::span<float>> state(whole_state_.begin(), whole_state_.end());
    whole_pass(settings_, step,
               {shape_, {gradients_.data(), gradients_.size()}, state, sums.parameters.value()});
  }
  step.tensor_factor = tensor_factor(settings_, shape_, sums);
  apply(settings_, step, spans());
}

void OptimizerWork::pass_over_memory() {
  std::vector<float*> arrays{parameters_.data()};
  for (const auto& moment : moments_) {
    if (moment) arrays.push_back(moment->data());
  }
  switch (arrays.size()) {
    case 1:
      return add_to_each<1>(nothing_, gradients_.data(), arrays, gradients_.size());
    case 2:
      return add_to_each<2>(nothing_, gradients_.data(), arrays, gradients_.size());
    case 3:
      return add_to_each<3>(nothing_, gradients_.data(), arrays, gradients_.size());
    default:
      return add_to_each<1 + kMostMoments>(nothing_, gradients_.data(), arrays, gradients_.size());
  }
}

Status OptimizerWork::check() const {
  const float* const end = parameters_.data() + parameters_.size();
  const float* const wrong = std::find_if_not<const float*>(parameters_.data(), end,
                                                            [](float value) { return std::isfinite(value); });
  if (wrong == end) return {};
  return Error(ErrorCode::kCorrupt,
               fmt::format("parameter {} is {} after {} steps", wrong - parameters_.data(), *wrong, steps_));
}

Shape matrix_of(std::size_t elements) {
  std::size_t rows = 256;
  while (elements % rows != 0) rows /= 2;
  return {rows, elements / rows};
}

std::uint64_t bytes_of_update(const OptimizerSettings& settings, std::size_t elements) {
  const auto moments = static_cast<std::uint64_t>(num_moments(settings));
  const std::uint64_t arrays = update::has_two_passes(settings) ? 5 + 2 * moments : 3 + 2 * moments;
  return arrays * elements * sizeof(float);
}

}  // namespace cohort::tool
