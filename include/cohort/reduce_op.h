#pragma once

#include <cohort/export.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace cohort {

/// How numbers of several ranks become one.
enum class ReduceOp : std::uint8_t { kSum, kMin, kMax, kProduct };

inline constexpr ReduceOp kAllReduceOps[] = {ReduceOp::kSum, ReduceOp::kMin, ReduceOp::kMax,
                                             ReduceOp::kProduct};

/// `sum`, `min`, `max`, `product`.
COHORT_EXPORT std::string_view name(ReduceOp op);
COHORT_EXPORT std::optional<ReduceOp> reduce_op_named(std::string_view name);

}  // namespace cohort
