#pragma once

#include <cohort/numbers.h>
#include <cohort/reduce_op.h>

#include <span>

namespace cohort::comm {

/// True if numbers of this kind can be combined so: by a mean the floats, by and, or and xor all others, by
/// the rest every kind.
bool is_combinable(ReduceOp op, DType dtype);

/// targets[t][i] = inputs[0][i] ∘ inputs[1][i] ∘ … for every target, from the left, i < count. 16-bit floats
/// are combined in f32 and rounded once. Integers wrap. The mean is the sum over the number of inputs. A NaN
/// in any input of min or max gives a NaN.
///
/// A target may be one of the inputs exactly; other overlaps are not allowed. Inputs must be at least one.
/// Cost: every input is read once, every target written once.
void combine(ReduceOp op, DType dtype, std::span<const std::byte* const> inputs,
             std::span<std::byte* const> targets, std::size_t count);

/// How partial results are combined: a mean is a sum until the end.
ReduceOp partial_op(ReduceOp op);
/// What makes a sum of `num_inputs` a mean.
void divide(Numbers sums, std::size_t num_inputs);

/// What partial results of `dtype` are kept in while they travel: f32 for the 16-bit floats, else `dtype`.
DType accumulator_of(DType dtype);
/// Converts between a 16-bit float and f32, rounding to nearest, ties to even; the same dtype is copied.
/// `from` may be the second half of `to`'s bytes: widening in place. Other overlaps are not allowed.
void convert(ConstNumbers from, Numbers to);
/// Every f32 becomes the nearest number of a 16-bit float, as if converted there and back.
void round_to(DType dtype, Numbers numbers);

}  // namespace cohort::comm
