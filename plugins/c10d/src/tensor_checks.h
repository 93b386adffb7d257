#pragma once

#include <ATen/core/Tensor.h>
#include <vector>

namespace cohort::c10d_plugin {

// Checks that torch leaves to backends. All of them throw RuntimeError, as Gloo does.

/// The single tensor of a call.
const at::Tensor& only(const std::vector<at::Tensor>& tensors);
/// The single list of a call, with one tensor for each rank.
const std::vector<at::Tensor>& list_of(const std::vector<std::vector<at::Tensor>>& lists, int world);
void check_same_type(const std::vector<at::Tensor>& tensors, const at::Tensor& example);
/// Checks that `large`, called `what` in the message, has as many elements as `small` times the ranks.
void check_product(const at::Tensor& large, const char* what, const at::Tensor& small, int world);
void check_same_number(std::size_t num_outputs, std::size_t num_inputs);

}  // namespace cohort::c10d_plugin
