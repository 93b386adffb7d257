#include "spans.h"
#include "update/rule.h"

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
  Fused(const Rule& rule, const Arrays& start)
      : rule_(rule),
        parameters_(copy_of(start.parameters)),
        first_(at::zeros_like(parameters_)),
        second_(at::zeros_like(parameters_)),
        count_(at::zeros({1})) {}

  void apply(const UpdateStep& step, const std::vector<float>& gradients) {
    std::vector<at::Tensor> p = {parameters_}, g = {copy_of(gradients)}, m = {first_}, v = {second_},
                            n = {count_};
    count_.fill_(static_cast<double>(step.count));
    const double rate = step.learning_rate;
    const double decay = rule_.weight_decay;
    if (rule_.kind == RuleKind::kAdam) {
      at::_fused_adam_(p, g, m, v, {}, n, rate, rule_.beta1, rule_.beta2, decay, rule_.epsilon, false, false);
    } else if (rule_.kind == RuleKind::kAdamW) {
      at::_fused_adamw_(p, g, m, v, {}, n, rate, rule_.beta1, rule_.beta2, decay, rule_.epsilon, false,
                        false);
    } else {
      const bool has_momentum = rule_.kind != RuleKind::kSgd;
      at::_fused_sgd_(p, g, has_momentum ? m : std::vector<at::Tensor>{}, decay,
                      has_momentum ? rule_.momentum : 0, rate, /*dampening=*/0,
                      rule_.kind == RuleKind::kNesterov, /*maximize=*/false,
                      /*is_first_step=*/step.count == 1);
    }
  }

  const at::Tensor& parameters() const { return parameters_; }

 private:
  const Rule rule_;
  at::Tensor parameters_, first_, second_, count_;
};

class AgainstLibtorch : public testing::TestWithParam<RuleKind> {};
INSTANTIATE_TEST_SUITE_P(, AgainstLibtorch, testing::ValuesIn(kAllRules), rule_name);

TEST_P(AgainstLibtorch, DiffersByRoundingAlone) {
  constexpr int kSteps = 20;
  // Both round fewer than 16 times in a step, numbers below 4 by half a unit of 2^-23.
  constexpr double kTolerance = kSteps * 2 * 16 * 4 * 0x1p-24;
  for (const double decay : {0.0, 0.1}) {
    for (const std::size_t count : kAwkwardCounts) {
      const Rule rule{.kind = GetParam(), .weight_decay = decay};
      Arrays arrays(rule.kind, count, 11);
      Fused fused(rule, arrays);
      for (int i = 1; i <= kSteps; ++i) {
        const UpdateStep step{.count = i, .learning_rate = 0.01 * i};
        arrays.new_gradients(11, static_cast<std::uint64_t>(i));
        fused.apply(step, arrays.gradients);
        apply(rule, step, arrays.spans());
      }
      if (count == 0) continue;
      const at::Tensor difference = (copy_of(arrays.parameters) - fused.parameters()).abs().max();
      EXPECT_LE(difference.item<double>(), kTolerance) << count << " elements, decay " << decay;
    }
  }
}

}  // namespace
}  // namespace cohort
