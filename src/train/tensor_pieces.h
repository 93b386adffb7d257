#pragma once

#include "train/module_tensors.h"
#include <cohort/state.h>

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <string>
#include <vector>

namespace cohort::train {

/// Piece::order of a tensor without gaps.
std::vector<std::size_t> order_in_memory(const at::Tensor& tensor);
/// The lengths of dimensions in this order.
Shape shape_in_memory(const Shape& shape, const std::vector<std::size_t>& order);

/// A tensor that this rank holds as a whole, as a piece of the state.
///
/// Failure: throws UsageError, with the name, for a tensor that is not in CPU memory or has gaps.
Piece whole_piece(std::string name, const at::Tensor& tensor, Merge merge = Merge::kSame);

/// A number that all ranks have.
Piece number_piece(std::string name, std::int64_t& number);

/// Visits parameters and buffers. Buffers are merged as Buffers merges them: means of floating-point numbers,
/// the largest of others. `parameters` is the memory of the parameters that are trained.
void visit_module(const ModuleTensors& tensors, const StateVisitor& visitor,
                  PieceMemory parameters = PieceMemory::kOwn);

}  // namespace cohort::train
