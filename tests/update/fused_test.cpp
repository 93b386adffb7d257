#include "spans.h"
#include "update/optimizer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace cohort {
namespace {

at::Tensor copy_of(const std::vector<float>& values) {
  at::Tensor tensor = at::empty({static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.data_ptr<float>());
  return tensor;
}

// Parameters and moments that libtorch's own kernels update.
class Fused {
 public:
  Fused(const OptimizerSettings& settings, const Arrays& start)
      : settings_(with_defaults(settings)),
        parameters_(copy_of(start.parameters)),
        first_(at::zeros_like(parameters_)),
        second_(at::zeros_like(parameters_)),
        count_(at::zeros({1})) {}

  void apply(const UpdateStep& step, const std::vector<float>& gradients) {
    std::vector<at::Tensor> p = {parameters_}, g = {copy_of(gradients)}, m = {first_}, v = {second_},
                            n = {count_};
    count_.fill_(static_cast<double>(step.count));
    const double rate = step.learning_rate;
    const double decay = settings_.weight_decay;
    if (settings_.kind == OptimizerKind::kAdam) {
      at::_fused_adam_(p, g, m, v, {}, n, rate, settings_.betas->first, settings_.betas->second, decay,
                       *settings_.eps, false, false);
    } else if (settings_.kind == OptimizerKind::kAdamW) {
      at::_fused_adamw_(p, g, m, v, {}, n, rate, settings_.betas->first, settings_.betas->second, decay,
                        *settings_.eps, false, false);
    } else {
      const bool has_momentum = settings_.momentum != 0;
      at::_fused_sgd_(p, g, has_momentum ? m : std::vector<at::Tensor>{}, decay, *settings_.momentum, rate,
                      /*dampening=*/0, *settings_.nesterov, /*maximize=*/false,
                      /*is_first_step=*/step.count == 1);
    }
  }

  const at::Tensor& parameters() const { return parameters_; }

 private:
  const OptimizerSettings settings_;
  at::Tensor parameters_, first_, second_, count_;
};

std::vector<OptimizerCase> those_of_libtorch() {
  std::vector<OptimizerCase> cases = all_optimizers();
  std::erase_if(cases, [](const OptimizerCase& each) {
    return each.settings.kind > OptimizerKind::kAdamW || each.settings.amsgrad ||
           each.settings.dampening != 0 || each.settings.maximize;
  });
  return cases;
}

class AgainstLibtorch : public testing::TestWithParam<OptimizerCase> {};
INSTANTIATE_TEST_SUITE_P(, AgainstLibtorch, testing::ValuesIn(those_of_libtorch()), case_name);

TEST_P(AgainstLibtorch, DiffersByRoundingAlone) {
  constexpr int kSteps = 20;
  // Both round fewer than 16 times in a step, numbers below 4 by half a unit of 2^-23.
  constexpr double kTolerance = kSteps * 2 * 16 * 4 * 0x1p-24;
  for (const double decay : {0.0, 0.1}) {
    for (const std::size_t count : kAwkwardCounts) {
      OptimizerSettings settings = GetParam().settings;
      settings.weight_decay = decay;
      Arrays arrays(settings, count, 11);
      Fused fused(settings, arrays);
      for (int i = 1; i <= kSteps; ++i) {
        const UpdateStep step{.count = i, .learning_rate = 0.01 * i};
        arrays.new_gradients(11, static_cast<std::uint64_t>(i));
        fused.apply(step, arrays.gradients);
        apply(settings, step, arrays.spans());
      }
      if (count == 0) continue;
      const at::Tensor difference = (copy_of(arrays.parameters) - fused.parameters()).abs().max();
      EXPECT_LE(difference.item<double>(), kTolerance) << count << " elements, decay " << decay;
    }
  }
}

}  // namespace
}  // namespace cohort
