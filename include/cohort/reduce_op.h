#pragma once

#include <cohort/export.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace cohort {

/// How a collective call combines the numbers of several ranks, element by element. kMean divides the sum by
/// the number of ranks once, at the end, and needs floating-point numbers. kAnd, kOr and kXor are bitwise and
/// need integers or bool. For bool, kSum and kMax are a logical or, kProduct and kMin a logical and.
enum class ReduceOp : std::uint8_t { kSum, kMin, kMax, kProduct, kMean, kAnd, kOr, kXor };

inline constexpr ReduceOp kAllReduceOps[] = {ReduceOp::kSum,     ReduceOp::kMin,  ReduceOp::kMax,
                                             ReduceOp::kProduct, ReduceOp::kMean, ReduceOp::kAnd,
                                             ReduceOp::kOr,      ReduceOp::kXor};

/// `sum`, `min`, `max`, `product`, `mean`, `and`, `or`, `xor`.
COHORT_EXPORT std::string_view name(ReduceOp op);
COHORT_EXPORT std::optional<ReduceOp> reduce_op_named(std::string_view name);

}  // namespace cohort
