#include "update/optimizer.h"

#include "base/check.h"
#include "update/bf16.h"
#include "update/kernels.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace cohort {
namespace {

// The smallest number of elements for which another thread pays.
constexpr std::size_t kGrain = 16384;

void check(const OptimizerSettings& settings, const UpdateStep& step, const UpdateSpans& spans) {
  COHORT_CHECK_GE(step.count, 1, "updates count from 1");
  COHORT_CHECK_EQ(spans.parameters.count, spans.gradients.count);
  if (spans.parameters.count == 0) return;
  const DType expected = spans.master != nullptr ? DType::kBF16 : DType::kF32;
  COHORT_CHECK(spans.parameters.dtype == expected && spans.gradients.dtype == DType::kF32,
               "{} with gradients of {}", name(spans.parameters.dtype), name(spans.gradients.dtype));
  COHORT_CHECK(spans.parameters.data != nullptr && spans.gradients.data != nullptr);
  const MomentNames names = moment_names(settings);
  for (std::size_t i = 0; i < kMostMoments; ++i) {
    COHORT_CHECK_EQ(spans.moments[i] != nullptr, !names[i].empty(), "moment {} of {}", i,
                    name(settings.kind));
  }
}

// Block by block, so that a block of the master is still in the cache when it is rounded.
void update_master(const update::Coefficients& coefficients, update::Kernel kernel,
                   const UpdateSpans& spans) {
  constexpr std::size_t kBlock = 2048;
  for (std::size_t first = 0; first < spans.parameters.count; first += kBlock) {
    const std::size_t count = std::min(kBlock, spans.parameters.count - first);
    UpdateSpans wide = spans.subspan(first, count);
    const Numbers narrow = wide.parameters;
    wide.parameters = {wide.master, count, DType::kF32};
    kernel(coefficients, wide);
    update::round_to_bf16(wide.master, reinterpret_cast<std::uint16_t*>(narrow.data), count);
  }
}

}  // namespace

namespace update {

const OptimizerRule& rule_of(OptimizerKind kind) {
  const auto rules = kernels_of(best_set()).rules;
  const auto index = static_cast<std::size_t>(kind);
  COHORT_CHECK_LT(index, rules.size(), "no such optimizer");
  return rules[index];
}

bool decouples_decay(const OptimizerSettings& settings) {
  const OptimizerRule& rule = rule_of(settings.kind);
  const bool may_choose = rule.uses.find("decoupled_weight_decay") != std::string_view::npos;
  return rule.decouples_decay || (may_choose && settings.decoupled_weight_decay);
}

}  // namespace update

using update::rule_of;

std::string_view name(OptimizerKind kind) {
  return rule_of(kind).name;
}

OptimizerSettings with_defaults(OptimizerSettings settings) {
  const update::Defaults& defaults = rule_of(settings.kind).defaults;
  if (!settings.learning_rate) settings.learning_rate = defaults.learning_rate;
  if (!settings.momentum) settings.momentum = defaults.momentum;
  if (!settings.nesterov) settings.nesterov = defaults.nesterov;
  if (!settings.betas) settings.betas = defaults.betas;
  if (!settings.eps) settings.eps = defaults.eps;
  if (settings.kind == OptimizerKind::kMuon && settings.ns_coefficients.empty()) {
    settings.ns_coefficients = {3.4445, -4.775, 2.0315};
  }
  return settings;
}

double learning_rate_of(const OptimizerSettings& settings) {
  return settings.learning_rate.value_or(rule_of(settings.kind).defaults.learning_rate);
}

MomentNames moment_names(const OptimizerSettings& settings) {
  return rule_of(settings.kind).moments(update::variant_of(settings));
}

float first_moment_value(const OptimizerSettings& settings) {
  const bool has_one = settings.kind == OptimizerKind::kAdagrad;
  return has_one ? static_cast<float>(settings.initial_accumulator_value) : 0.0f;
}

int num_moments(const OptimizerSettings& settings) {
  int count = 0;
  for (const std::string_view each : moment_names(settings)) count += each.empty() ? 0 : 1;
  return count;
}

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const update::OptimizerRule& rule : update::kernels_generic().rules) names.emplace_back(rule.name);
  return names;
}

std::optional<OptimizerKind> optimizer_named(std::string_view name) {
  for (const update::OptimizerRule& rule : update::kernels_generic().rules) {
    if (rule.name == name) return rule.kind;
  }
  return std::nullopt;
}

Status check_update(const OptimizerSettings& settings, const UpdateTypes& types) {
  const bool is_known = types.parameters == DType::kF32 || types.parameters == DType::kBF16;
  if (is_known && types.gradients == DType::kF32) return {};
  return Error(ErrorCode::kUsage,
               fmt::format("{} cannot update parameters of type {} with gradients of type {}",
                           name(settings.kind), name(types.parameters), name(types.gradients)))
      .with_remedy(
          "Cohort's optimizers update f32 and bf16 parameters: convert the module with "
          "module->to(torch::kFloat), or "
          "give the trainer an optimizer of torch.");
}

UpdateSpans UpdateSpans::subspan(std::size_t from, std::size_t length) const {
  COHORT_CHECK(from <= parameters.count && length <= parameters.count - from, "[{}, +{}) of {}", from, length,
               parameters.count);
  UpdateSpans part{.parameters = parameters.slice(from, length),
                   .gradients = gradients.data == nullptr ? gradients : gradients.slice(from, length),
                   .moments = moments};
  for (float*& moment : part.moments) moment = moment == nullptr ? nullptr : moment + from;
  part.master = master == nullptr ? nullptr : master + from;
  part.directions = directions == nullptr ? nullptr : directions + from;
  return part;
}

void apply(const OptimizerSettings& settings, const UpdateStep& step, const UpdateSpans& spans) {
  apply(settings, step, spans, SerialLoop());
}

void apply(const OptimizerSettings& settings, const UpdateStep& step, const UpdateSpans& spans,
           const Parallel& parallel) {
  check(settings, step, spans);
  const update::Coefficients coefficients = update::coefficients(settings, step);
  const update::Kernel kernel = rule_of(settings.kind).kernel(update::variant_of(settings));
  parallel.run(spans.parameters.count, kGrain, [&](std::size_t first, std::size_t last) {
    const UpdateSpans part = spans.subspan(first, last - first);
    if (part.master == nullptr) return kernel(coefficients, part);
    update_master(coefficients, kernel, part);
  });
}

void add_squares(std::span<const float> values, ExactSum& sum) {
  constexpr std::size_t kBlock = update::kSquareBlock;
  const auto kernel = update::kernels_of(update::best_set()).square_sums;
  std::array<double, 256> sums;
  std::size_t done = 0;
  while (values.size() - done >= kBlock) {
    const std::size_t num_blocks = std::min((values.size() - done) / kBlock, sums.size());
    kernel(values.data() + done, num_blocks, sums.data());
    sum.add(std::span<const double>(sums).first(num_blocks));
    done += num_blocks * kBlock;
  }
  if (done == values.size()) return;
  std::array<float, kBlock> rest{};
  std::copy(values.begin() + static_cast<std::ptrdiff_t>(done), values.end(), rest.begin());
  kernel(rest.data(), 1, sums.data());
  sum.add(sums[0]);
}

}  // namespace cohort
