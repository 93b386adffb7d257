#include "train/initial_values.h"

#include <cohort/tensor.h>

#include <ATen/ATen.h>
#include <fmt/format.h>

namespace cohort::train {

void send_from_first(Communicator& group, const std::vector<NamedTensor>& tensors) {
  const at::NoGradGuard no_grad;
  for (const NamedTensor& named : tensors) {
    const at::Tensor whole = named.tensor.detach().contiguous();
    value_or_throw(
        group.run(broadcast({whole.data_ptr(), static_cast<std::size_t>(whole.numel()), dtype_of(whole)}, 0))
            .within(fmt::format("rank 0's '{}' did not reach every rank", named.name)));
    if (whole.data_ptr() != named.tensor.data_ptr()) named.tensor.detach().copy_(whole);
  }
}

}  // namespace cohort::train
