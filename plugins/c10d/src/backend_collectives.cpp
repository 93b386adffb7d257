#include "backend.h"
#include "monitored_barrier.h"
#include "sparse_sum.h"
#include "tensor_checks.h"

#include <fmt/format.h>

// Collectives with one tensor per rank.

namespace cohort::c10d_plugin {
namespace {

using ::c10d::OpType;

// The bytes of each rank's rows. An empty list of split sizes means equal splits.
std::vector<std::size_t> bytes_of_rows(const at::Tensor& tensor, const std::vector<std::int64_t>& rows,
                                       int world, const char* what) {
  const auto ranks = static_cast<std::size_t>(world);
  const std::int64_t num_rows = tensor.dim() > 0 ? tensor.size(0) : 0;
  if (rows.empty()) {
    TORCH_CHECK(num_rows % world == 0, "cohort: the ", what, " has ", num_rows,
                " rows, expected a multiple of the ", world, " ranks; or give split sizes");
    return std::vector<std::size_t>(ranks, tensor.nbytes() / ranks);
  }
  TORCH_CHECK(rows.size() == ranks, "cohort: ", rows.size(), " split sizes of the ", what,
              ", expected one for each of ", world, " ranks");
  const std::size_t row_bytes = num_rows > 0 ? tensor.nbytes() / static_cast<std::size_t>(num_rows) : 0;
  std::vector<std::size_t> counts;
  std::int64_t total = 0;
  for (const std::int64_t each : rows) {
    TORCH_CHECK(each >= 0, "cohort: a split size of the ", what, " is ", each, ", expected at least 0");
    counts.push_back(static_cast<std::size_t>(each) * row_bytes);
    total += each;
  }
  TORCH_CHECK(total == num_rows, "cohort: the split sizes of the ", what, " add up to ", total,
              ", expected its ", num_rows, " rows");
  return counts;
}

}  // namespace

CohortBackend::Work CohortBackend::broadcast(Tensors& tensors, const ::c10d::BroadcastOptions& options) {
  Task task(OpType::BROADCAST);
  task.show(tensors);
  task.call(cohort::broadcast(task.bytes_in_place(only(tensors)), static_cast<int>(options.rootRank)));
  task.give(tensors);
  return launch(std::move(task), options);
}

CohortBackend::Work CohortBackend::allreduce(Tensors& tensors, const ::c10d::AllreduceOptions& options) {
  if (tensors.size() == 1 && tensors.front().layout() == at::kSparse) {
    return allreduce_sparse(tensors, options);
  }
  Task task(OpType::ALLREDUCE);
  task.show(tensors);
  for (const at::Tensor& tensor : tensors) {
    task.call(all_reduce(task.numbers_in_place(tensor), op_for(tensor, options.reduceOp)));
  }
  task.give(tensors);
  return launch(std::move(task), options);
}

CohortBackend::Work CohortBackend::reduce(Tensors& tensors, const ::c10d::ReduceOptions& options) {
  const int root = static_cast<int>(options.rootRank);
  Task task(OpType::REDUCE);
  task.show(tensors);
  if (rank_ == root) {
    const Numbers numbers = task.numbers_in_place(only(tensors));
    task.call(cohort::reduce(numbers, numbers, root, op_for(tensors.front(), options.reduceOp)));
  } else {
    task.call(cohort::reduce(task.numbers_from(only(tensors)), {}, root,
                             op_for(tensors.front(), options.reduceOp)));
  }
  task.give(tensors);
  return launch(std::move(task), options);
}

CohortBackend::Work CohortBackend::_allgather_base(at::Tensor& output, at::Tensor& input,
                                                   const ::c10d::AllgatherOptions& options) {
  check_same_type({output}, input);
  check_product(output, "output", input, size_);
  Task task(OpType::_ALLGATHER_BASE);
  task.show({input});
  task.call(all_gather(task.bytes_from(input), task.bytes_into(output)));
  task.give({output});
  return launch(std::move(task), options);
}

CohortBackend::Work CohortBackend::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                                        const ::c10d::ReduceScatterOptions& options) {
  check_same_type({output}, input);
  check_product(input, "input", output, size_);
  Task task(OpType::_REDUCE_SCATTER_BASE);
  task.show({input});
  task.call(cohort::reduce_scatter(task.numbers_from(input), task.numbers_into(output),
                                   op_for(input, options.reduceOp)));
  task.give({output});
  return launch(std::move(task), options);
}

CohortBackend::Work CohortBackend::alltoall_base(at::Tensor& output, at::Tensor& input,
                                                 std::vector<std::int64_t>& output_splits,
                                                 std::vector<std::int64_t>& input_splits,
                                                 const ::c10d::AllToAllOptions& options) {
  check_same_type({output}, input);
  Task task(OpType::ALLTOALL_BASE);
  task.show({input});
  task.call(all_to_all(task.bytes_from(input), task.bytes_into(output),
                       bytes_of_rows(input, input_splits, size_, "input"),
                       bytes_of_rows(output, output_splits, size_, "output")));
  task.give({output});
  return launch(std::move(task), options);
}

CohortBackend::Work CohortBackend::barrier(const ::c10d::BarrierOptions& options) {
  Task task(OpType::BARRIER);
  task.call(cohort::barrier());
  return launch(std::move(task), options);
}

void CohortBackend::monitoredBarrier(const ::c10d::BarrierOptions& options, bool wait_for_all) {
  const bool is_over = options.timeout == std::chrono::milliseconds::zero();
  MonitoredBarrier{.store = *store_,
                   .number = num_monitored_barriers_,
                   .rank = rank_,
                   .world = size_,
                   .limit = is_over ? options.timeout
                                    : std::chrono::ceil<std::chrono::milliseconds>(limit_of(options.timeout)),
                   .names_all = wait_for_all}
      .pass();
  ++num_monitored_barriers_;  // not after a failure: all ranks try the same number again
}

// Runs to the end even with async_op: the size of each message is known only after the one before.
CohortBackend::Work CohortBackend::allreduce_sparse(Tensors& tensors,
                                                    const ::c10d::AllreduceOptions& options) {
  TORCH_CHECK(options.reduceOp == ::c10d::ReduceOp::SUM, "cohort: sparse tensors can only be summed");
  tensors.front().copy_(sparse_sum(only(tensors), *group(), limit_of(options.timeout)));
  Task task(OpType::_ALLREDUCE_SPARSE);
  task.show(tensors);
  task.give(tensors);
  return launch(std::move(task), false, options.timeout);
}

}  // namespace cohort::c10d_plugin
