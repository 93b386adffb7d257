#include "tensor_checks.h"

#include <c10/util/Exception.h>

namespace cohort::c10d_plugin {

const at::Tensor& only(const std::vector<at::Tensor>& tensors) {
  TORCH_CHECK(tensors.size() == 1, "cohort: the call has ", tensors.size(), " tensors, expected 1");
  return tensors.front();
}

const std::vector<at::Tensor>& list_of(const std::vector<std::vector<at::Tensor>>& lists, int world) {
  TORCH_CHECK(lists.size() == 1, "cohort: the call has ", lists.size(), " lists of tensors, expected 1");
  TORCH_CHECK(lists.front().size() == static_cast<std::size_t>(world), "cohort: the list has ",
              lists.front().size(), " tensors, expected one for each of ", world, " ranks");
  return lists.front();
}

void check_same_type(const std::vector<at::Tensor>& tensors, const at::Tensor& example) {
  for (const at::Tensor& tensor : tensors) {
    TORCH_CHECK(tensor.scalar_type() == example.scalar_type(), "cohort: tensors of ", tensor.scalar_type(),
                " and ", example.scalar_type(), " in one call must have the same type");
  }
}

void check_product(const at::Tensor& large, const char* what, const at::Tensor& small, int world) {
  TORCH_CHECK(large.numel() == small.numel() * world, "cohort: the ", what, " has ", large.numel(),
              " elements, expected ", small.numel(), " for each of ", world, " ranks");
}

void check_same_number(std::size_t num_outputs, std::size_t num_inputs) {
  TORCH_CHECK(num_outputs == num_inputs, "cohort: ", num_outputs, " outputs, expected as many as the ",
              num_inputs, " inputs");
}

}  // namespace cohort::c10d_plugin
