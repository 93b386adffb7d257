#pragma once

#include <cohort/export.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace cohort {

/// How numbers of several ranks become one. The mean is the sum, divided once; integers have none. And, or
/// and xor are of bits; floats have none. Of truth values sum and max are or, product and min are and.
enum class ReduceOp : std::uint8_t { kSum, kMin, kMax, kProduct, kMean, kAnd, kOr, kXor };

inline constexpr ReduceOp kAllReduceOps[] = {ReduceOp::kSum,     ReduceOp::kMin,  ReduceOp::kMax,
                                             ReduceOp::kProduct, ReduceOp::kMean, ReduceOp::kAnd,
                                             ReduceOp::kOr,      ReduceOp::kXor};

/// `sum`, `min`, `max`, `product`, `mean`, `and`, `or`, `xor`.
COHORT_EXPORT std::string_view name(ReduceOp op);
COHORT_EXPORT std::optional<ReduceOp> reduce_op_named(std::string_view name);

}  // namespace cohort
