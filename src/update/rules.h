#pragma once

// The table of all optimizers. Included by kernels_<set>.cpp, so that each instruction set has a table with
// its own kernels. docs/adding-an-optimizer.md adds a line.

#include "update/loops.h"

namespace cohort::update {
namespace {

inline MomentNames momentum_buffer(const Variant& variant) {
  return {variant.momentum == Momentum::kNone ? std::string_view() : "momentum_buffer"};
}
inline MomentNames two_averages(const Variant&) {
  return {"exp_avg", "exp_avg_sq"};
}

constexpr OptimizerRule kRules[] = {
    {OptimizerKind::kSgd, "sgd", momentum_buffer, Needs::kElements, sgd_kernel},
    {OptimizerKind::kAdam, "adam", two_averages, Needs::kElements, adam_kernel},
    {OptimizerKind::kAdamW, "adamw", two_averages, Needs::kElements, adamw_kernel},
};

constexpr bool is_in_order() {
  std::size_t next = 0;
  for (const OptimizerRule& rule : kRules) {
    if (static_cast<std::size_t>(rule.kind) != next++) return false;
  }
  return true;
}
static_assert(is_in_order(), "the table has a line for each OptimizerKind, in the order of the enumerators");

}  // namespace
}  // namespace cohort::update
