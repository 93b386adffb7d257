#pragma once

#include <ATen/core/Tensor.h>
#include <vector>

namespace cohort::c10d_plugin {

// What torch leaves to backends to check. Each throws torch's ValueError or TypeError.

/// The one tensor that a rank has in a call.
const at::Tensor& only(const std::vector<at::Tensor>& tensors);
/// The one list, with a tensor for each rank.
const std::vector<at::Tensor>& list_of(const std::vector<std::vector<at::Tensor>>& lists, int world);
void check_same_type(const std::vector<at::Tensor>& tensors, const at::Tensor& example);
/// `large`, which is called `what`, has a part as long as `small` for each rank.
void check_product(const at::Tensor& large, const char* what, const at::Tensor& small, int world);
void check_same_number(std::size_t num_outputs, std::size_t num_inputs);

}  // namespace cohort::c10d_plugin
