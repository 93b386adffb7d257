#include "update/make_rule.h"

#include "update/setting.h"

#include <array>

namespace cohort {
namespace {

using update::check_setting;
using update::check_share;
using update::Least;

Status check_settings(const Rule& rule) {
  COHORT_RETURN_IF_ERROR(check_setting("weight_decay", rule.weight_decay, Least::kZero));
  if (num_moments(rule.kind) == 1) return check_share("momentum", rule.momentum);
  if (num_moments(rule.kind) == 2) {
    COHORT_RETURN_IF_ERROR(check_share("beta1", rule.beta1));
    COHORT_RETURN_IF_ERROR(check_share("beta2", rule.beta2));
    return check_setting("epsilon", rule.epsilon, Least::kMoreThanZero);
  }
  return {};
}

}  // namespace

Result<Rule> make_rule(const UpdateConfig& config) {
  static constexpr std::array<RuleKind, 5> kKinds = {RuleKind::kSgd, RuleKind::kMomentum, RuleKind::kNesterov,
                                                     RuleKind::kAdam, RuleKind::kAdamW};
  std::array<std::string_view, kKinds.size()> names;
  for (std::size_t i = 0; i < kKinds.size(); ++i) names[i] = name(kKinds[i]);
  COHORT_ASSIGN_OR_RETURN(const std::size_t index, update::chosen("rule", config.rule, names));
  const Rule rule{.kind = kKinds[index],
                  .momentum = config.momentum,
                  .beta1 = config.beta1,
                  .beta2 = config.beta2,
                  .epsilon = config.epsilon,
                  .weight_decay = config.weight_decay};
  COHORT_RETURN_IF_ERROR(check_settings(rule));
  return rule;
}

}  // namespace cohort
