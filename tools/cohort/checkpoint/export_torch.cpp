#include "checkpoint/export_torch.h"

#include "checkpoint/weight_index.h"
#include "interchange/write_torch_file.h"

#include <fmt/format.h>

namespace cohort::tool {

Status export_torch(const checkpoint::Export& to, const checkpoint::TensorList& tensors) {
  COHORT_ASSIGN_OR_RETURN(const bool exists, to.files.exists(to.path));
  if (exists) {
    return Error(ErrorCode::kAlreadyExists, fmt::format("'{}' exists", to.path))
        .with_remedy("Remove it, or write to another path.");
  }
  interchange::OutgoingTensors outgoing;
  interchange::Dict model{.entries = {}, .kind = interchange::DictKind::kOrderedDict};
  for (const checkpoint::WholeTensor* tensor : tensors) {
    if (!checkpoint::is_of_model(tensor->name)) {
      return Error(ErrorCode::kUsage,
                   fmt::format("'{}' is state of an optimizer, which is not written to files of PyTorch",
                               tensor->name))
          .with_remedy("Leave out --with optimizer, or write --to safetensors or --to cohort.");
    }
    model.add(tensor->name, outgoing.add(tensor->dtype, tensor->shape, [&to, tensor](WritableFile& file) {
      return to.from.stream(*tensor, [&](std::uint64_t, std::span<const std::byte> bytes) -> Status {
        to.report(bytes.size());
        return file.append(bytes);
      });
    }));
  }
  return interchange::write_torch_file(to.files, to.path, model, outgoing)
      .within(fmt::format("cannot write '{}'", to.path));
}

}  // namespace cohort::tool
