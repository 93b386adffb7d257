#pragma once

#include <cohort/numbers.h>
#include <cohort/reduce_op.h>

#include <span>

namespace cohort::comm {

/// Whether numbers of this dtype can be combined by `op`: mean takes floats; and, or and xor take integers
/// and truth values; the other operations take every dtype.
bool is_combinable(ReduceOp op, DType dtype);

/// targets[t][i] = inputs[0][i] ∘ inputs[1][i] ∘ … for every target, from the left, i < count. 16-bit floats
/// are combined in f32 and rounded once. Integers wrap. The mean is the sum over the number of inputs. A NaN
/// in any input of min or max gives a NaN.
///
/// A target may be exactly one of the inputs; other overlaps are not allowed. There is at least one input.
/// Cost: every input is read once, every target written once.
void combine(ReduceOp op, DType dtype, std::span<const std::byte* const> inputs,
             std::span<std::byte* const> targets, std::size_t count);

/// The operation for partial results: a mean is computed as a sum, divided at the end.
ReduceOp partial_op(ReduceOp op);
/// Divides sums of `num_inputs` numbers to get means.
void divide(Numbers sums, std::size_t num_inputs);

/// The dtype of partial results: f32 for the 16-bit floats, otherwise `dtype`.
DType accumulator_of(DType dtype);
/// Converts between a 16-bit float and f32, rounding to nearest, ties to even; the same dtype is copied.
/// `from` may be the second half of `to`'s bytes: widening in place. Other overlaps are not allowed.
void convert(ConstNumbers from, Numbers to);
/// Rounds every f32 to the nearest value of a 16-bit float, as if converted there and back.
void round_to(DType dtype, Numbers numbers);

}  // namespace cohort::comm
