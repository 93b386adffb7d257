#pragma once

#include "checkpoint/manifest.h"
#include "checkpoint/whole_tensors.h"
#include "interchange/optimizer_dict.h"
#include "interchange/write_torch_file.h"

#include <vector>

namespace cohort::tool {

/// The state of an optimizer in a snapshot, on the way into a file of torch.save().
///
/// Lifetime: tensors and course must outlive it.
/// Failure: kUsage if the snapshot does not know the settings of its optimizer, and for state that belongs to
/// none of its parameters.
class OptimizerTensors {
 public:
  OptimizerTensors(const checkpoint::WholeTensors& tensors, const checkpoint::Course& course)
      : tensors_(tensors), course_(course) {}

  /// Whether the tensor is a number of updates, `weight/step`.
  bool is_step(const checkpoint::WholeTensor& tensor) const;
  /// Adds a number of updates in the form of torch.optim. SGD of torch counts none: then it is left out.
  Status add_step(const checkpoint::WholeTensor& tensor, interchange::OutgoingTensors& outgoing);
  void add(const std::string& name, interchange::StoredTensor tensor);

  /// The state dict that load_state_dict() of torch.optim takes.
  Result<interchange::Dict> dict() const;

 private:
  bool counts_updates() const;

  const checkpoint::WholeTensors& tensors_;
  const checkpoint::Course& course_;
  std::vector<interchange::NamedTensor> state_;
};

}  // namespace cohort::tool
