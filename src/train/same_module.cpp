#include "train/same_module.h"

#include "base/checksum.h"
#include "comm/rank_text.h"
#include "train/vote.h"

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::train {
namespace {

std::uint64_t shape_hash(const ModuleTensors& tensors) {
  std::string text;
  for (const auto* kind : {&tensors.parameters, &tensors.frozen, &tensors.buffers, &tensors.counters}) {
    for (const NamedTensor& named : *kind) {
      const at::Tensor& tensor = named.tensor;
      text += fmt::format("{} {} {} {}\n", named.name, at::toString(tensor.scalar_type()),
                          fmt::join(tensor.sizes(), ","), fmt::join(tensor.strides(), ","));
    }
    text += '\n';
  }
  return content_hash(std::as_bytes(std::span(text)));
}

}  // namespace

void check_same_module(Communicator& group, const ModuleTensors& tensors) {
  const std::array<std::uint64_t, 1> mine{shape_hash(tensors)};
  std::vector<std::uint64_t> all(static_cast<std::size_t>(group.world()));
  const std::span<const std::byte> from = std::as_bytes(std::span(mine));
  const std::span<std::byte> to = std::as_writable_bytes(std::span(all));
  value_or_throw(
      group.run(all_gather({from.data(), from.size(), DType::kU8}, {to.data(), to.size(), DType::kU8})));
  const std::vector<int> others = deviating_ranks(all);
  if (others.empty()) return;
  throw UsageError(
      UsageError(fmt::format("the module of {} is another than that of the rest", comm::ranks_text(others)))
          .with_remedy("Build the same module on every rank: the same names, sizes and types, registered "
                       "in the same order."));
}

}  // namespace cohort::train
