#include "sparse_sum.h"

#include "work.h"

#include <ATen/core/Formatting.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/sparse_coo_tensor.h>

namespace cohort::c10d_plugin {
namespace {

void run(Communicator& group, const Call& call) {
  if (const Status outcome = group.run(call); !outcome) raise_for_torch(outcome.error());
}

// A hash of type, shape and number of sparse dims, which must be equal on all ranks.
std::int64_t shape_hash(const at::Tensor& tensor) {
  std::size_t hash = static_cast<std::size_t>(tensor.scalar_type());
  for (const std::int64_t size : tensor.sizes()) hash = hash * 1'000'003 + static_cast<std::size_t>(size);
  return static_cast<std::int64_t>(hash * 31 + static_cast<std::size_t>(tensor.sparse_dim()));
}

void check_alike(const at::Tensor& own, Communicator& group, std::chrono::nanoseconds limit) {
  const std::int64_t hash = shape_hash(own);
  const auto world = static_cast<std::size_t>(group.size());
  std::vector<std::int64_t> hashes(world);
  run(group, all_gather(std::span<const std::int64_t>(&hash, 1), std::span(hashes)).within(limit));
  for (std::size_t rank = 0; rank < world; ++rank) {
    TORCH_CHECK(hashes[rank] == hash,
                "cohort: sparse tensors to sum must have the same shape and type: that of rank ", rank,
                " differs from ", own.sizes(), " of ", own.scalar_type(), " on this rank");
  }
}

std::vector<std::int64_t> counts_of_all(std::int64_t own, Communicator& group,
                                        std::chrono::nanoseconds limit) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(group.size()));
  run(group, all_gather(std::span<const std::int64_t>(&own, 1), std::span(counts)).within(limit));
  return counts;
}

// Concatenates the tensors of all ranks along one dimension. They have the shape of `own`, except for the
// size `counts[rank]` in that dimension.
at::Tensor gathered(const at::Tensor& own, std::int64_t dimension, const std::vector<std::int64_t>& counts,
                    Communicator& group, std::chrono::nanoseconds limit) {
  std::vector<at::Tensor> parts;
  std::vector<std::int64_t> shape = own.sizes().vec();
  for (int rank = 0; rank < group.size(); ++rank) {
    shape[static_cast<std::size_t>(dimension)] = counts[static_cast<std::size_t>(rank)];
    parts.push_back(rank == group.rank() ? own : at::empty(shape, own.options()));
    const at::Tensor& part = parts.back();
    run(group, broadcast({part.data_ptr(), part.nbytes(), DType::kU8}, rank).within(limit));
  }
  return at::cat(parts, dimension);
}

}  // namespace

at::Tensor sparse_sum(const at::Tensor& own, Communicator& group, std::chrono::nanoseconds limit) {
  check_alike(own, group, limit);
  const at::Tensor once = own.coalesce();
  const std::vector<std::int64_t> counts = counts_of_all(once.indices().size(1), group, limit);
  const at::Tensor indices = gathered(once.indices().contiguous(), 1, counts, group, limit);
  const at::Tensor values = gathered(once.values().contiguous(), 0, counts, group, limit);
  return at::sparse_coo_tensor(indices, values, once.sizes(), once.options()).coalesce();
}

}  // namespace cohort::c10d_plugin
