#include "checkpoint/export_torch.h"

#include "checkpoint/optimizer_dict.h"
#include "checkpoint/weight_index.h"
#include "interchange/write_torch_file.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

using checkpoint::WholeTensor;
using interchange::Dict;

interchange::StoredTensor add_to(interchange::OutgoingTensors& outgoing, const checkpoint::Export& to,
                                 const WholeTensor& tensor) {
  return outgoing.add(tensor.dtype, tensor.shape, [&to, &tensor](WritableFile& file) {
    return to.from.stream(tensor, [&](std::uint64_t, std::span<const std::byte> bytes) -> Status {
      to.report(bytes.size());
      return file.append(bytes);
    });
  });
}

/// A file with a model alone is its state dict. With an optimizer, both have the names that the tutorials of
/// PyTorch give them.
interchange::Value file_of(Dict model, std::optional<Dict> optimizer, const state::Position& position) {
  if (!optimizer) return model;
  Dict both;
  both.add("model_state_dict", std::move(model));
  both.add("optimizer_state_dict", *std::move(optimizer));
  both.add("step", position.step);
  both.add("epoch", position.epoch);
  return both;
}

}  // namespace

Status export_torch(const checkpoint::Export& to, const checkpoint::TensorList& tensors) {
  COHORT_ASSIGN_OR_RETURN(const bool exists, to.files.exists(to.path));
  if (exists) {
    return Error(ErrorCode::kAlreadyExists, fmt::format("'{}' exists", to.path))
        .with_remedy("Remove it, or write to another path.");
  }
  interchange::OutgoingTensors outgoing;
  Dict model{.entries = {}, .kind = interchange::DictKind::kOrderedDict};
  OptimizerTensors of_optimizer(to.from, to.course);
  for (const WholeTensor* tensor : tensors) {
    if (checkpoint::is_of_model(tensor->name)) {
      model.add(tensor->name, add_to(outgoing, to, *tensor));
    } else if (checkpoint::is_of_post_steps(tensor->name)) {
      to.report(tensor->size_bytes());  // optimizers of torch have none
    } else if (of_optimizer.is_step(*tensor)) {
      COHORT_RETURN_IF_ERROR(of_optimizer.add_step(*tensor, outgoing));
      to.report(tensor->size_bytes());
    } else {
      of_optimizer.add(tensor->name, add_to(outgoing, to, *tensor));
    }
  }
  std::optional<Dict> optimizer;
  const bool has_optimizer = std::any_of(tensors.begin(), tensors.end(), [](const WholeTensor* tensor) {
    return !checkpoint::is_of_model(tensor->name) && !checkpoint::is_of_post_steps(tensor->name);
  });
  if (has_optimizer) {
    COHORT_ASSIGN_OR_RETURN(optimizer, of_optimizer.dict());
  }
  const interchange::Value file = file_of(std::move(model), std::move(optimizer), to.course.position);
  return interchange::write_torch_file(to.files, to.path, file, outgoing)
      .within(fmt::format("cannot write '{}'", to.path));
}

}  // namespace cohort::tool
