#include "backend.h"
#include "tensor_checks.h"

// Collectives on lists of tensors: one tensor for each rank, or several calls at once.

namespace cohort::c10d_plugin {
namespace {

using ::c10d::OpType;

// Whether the counts are not all equal.
bool differ(const std::vector<std::size_t>& counts) {
  for (const std::size_t count : counts) {
    if (count != counts.front()) return true;
  }
  return false;
}

// The counts for a Call, which takes an empty list for equal counts.
std::vector<std::size_t> where_they_differ(std::vector<std::size_t> counts) {
  return differ(counts) ? counts : std::vector<std::size_t>{};
}

}  // namespace

CohortBackend::Work CohortBackend::allgather(TensorLists& outputs, Tensors& inputs,
                                             const ::c10d::AllgatherOptions& options) {
  const Tensors& parts = list_of(outputs, size_);
  check_same_type(parts, only(inputs));
  Task task(OpType::ALLGATHER);
  task.show(inputs);
  task.call(all_gather(task.bytes_from(inputs.front()), task.bytes_into(parts),
                       where_they_differ(byte_counts(parts))));
  task.give(parts);
  return launch(std::move(task), options);
}

CohortBackend::Work CohortBackend::gather(TensorLists& outputs, Tensors& inputs,
                                          const ::c10d::GatherOptions& options) {
  const int root = static_cast<int>(options.rootRank);
  Task task(OpType::GATHER);
  task.show(inputs);
  if (rank_ == root) {
    const Tensors& parts = list_of(outputs, size_);
    check_same_type(parts, only(inputs));
    task.call(cohort::gather(task.bytes_from(inputs.front()), task.bytes_into(parts), root,
                             where_they_differ(byte_counts(parts))));
    task.give(parts);
  } else {
    TORCH_CHECK(outputs.empty() || outputs.front().empty(),
                "cohort: gather: only the root may pass output tensors");
    task.call(cohort::gather(task.bytes_from(only(inputs)), {}, root));
  }
  return launch(std::move(task), options);
}

CohortBackend::Work CohortBackend::scatter(Tensors& outputs, TensorLists& inputs,
                                           const ::c10d::ScatterOptions& options) {
  const int root = static_cast<int>(options.rootRank);
  Task task(OpType::SCATTER);
  if (!inputs.empty()) task.show(inputs.front());
  if (rank_ == root) {
    const Tensors& parts = list_of(inputs, size_);
    check_same_type(parts, only(outputs));
    task.call(cohort::scatter(task.bytes_from(parts), task.bytes_into(outputs.front()), root,
                              where_they_differ(byte_counts(parts))));
  } else {
    TORCH_CHECK(inputs.empty() || inputs.front().empty(),
                "cohort: scatter: only the root may pass input tensors");
    task.call(cohort::scatter({}, task.bytes_into(only(outputs)), root));
  }
  task.give(outputs);
  return launch(std::move(task), options);
}

CohortBackend::Work CohortBackend::reduce_scatter(Tensors& outputs, TensorLists& inputs,
                                                  const ::c10d::ReduceScatterOptions& options) {
  const Tensors& parts = list_of(inputs, size_);
  check_same_type(parts, only(outputs));
  Task task(OpType::REDUCE_SCATTER);
  task.show(parts);
  task.call(cohort::reduce_scatter(task.numbers_from(parts), task.numbers_into(outputs.front()),
                                   op_for(parts.front(), options.reduceOp),
                                   where_they_differ(counts(parts))));
  task.give(outputs);
  return launch(std::move(task), options);
}

CohortBackend::Work CohortBackend::alltoall(Tensors& outputs, Tensors& inputs,
                                            const ::c10d::AllToAllOptions& options) {
  list_of({inputs}, size_);
  list_of({outputs}, size_);
  check_same_type(inputs, outputs.front());
  Task task(OpType::ALLTOALL);
  task.show(inputs);
  task.call(all_to_all(task.bytes_from(inputs), task.bytes_into(outputs), byte_counts(inputs),
                       byte_counts(outputs)));
  task.give(outputs);
  return launch(std::move(task), options);
}

CohortBackend::Work CohortBackend::allreduce_coalesced(Tensors& tensors,
                                                       const ::c10d::AllreduceCoalescedOptions& options) {
  Task task(OpType::ALLREDUCE_COALESCED);
  task.show(tensors);
  for (const at::Tensor& tensor : tensors) {
    task.call(all_reduce(task.numbers_in_place(tensor), op_for(tensor, options.reduceOp)));
  }
  task.give(tensors);
  return launch(std::move(task), options);
}

CohortBackend::Work CohortBackend::allgather_coalesced(TensorLists& outputs, Tensors& inputs,
                                                       const ::c10d::AllgatherOptions& options) {
  TORCH_CHECK(outputs.size() == static_cast<std::size_t>(size_), "cohort: ", outputs.size(),
              " lists of outputs, expected one for each of ", size_, " ranks");
  for (const Tensors& of_rank : outputs) check_same_number(of_rank.size(), inputs.size());
  Task task(OpType::ALLGATHER_COALESCED);
  task.show(inputs);
  Tensors all;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Tensors parts;
    for (const Tensors& of_rank : outputs) parts.push_back(of_rank[i]);
    check_same_type(parts, inputs[i]);
    task.call(all_gather(task.bytes_from(inputs[i]), task.bytes_into(parts),
                         where_they_differ(byte_counts(parts))));
    all.insert(all.end(), parts.begin(), parts.end());
  }
  task.give(all);
  return launch(std::move(task), options);
}

CohortBackend::Work CohortBackend::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                                   const ::c10d::AllgatherOptions& options) {
  check_same_number(outputs.size(), inputs.size());
  Task task(OpType::COALESCED);
  task.show(inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check_same_type({outputs[i]}, inputs[i]);
    task.call(all_gather(task.bytes_from(inputs[i]), task.bytes_into(outputs[i])));
  }
  task.give(outputs);
  return launch(std::move(task), options);
}

CohortBackend::Work CohortBackend::reduce_scatter_tensor_coalesced(
    Tensors& outputs, Tensors& inputs, const ::c10d::ReduceScatterOptions& options) {
  check_same_number(outputs.size(), inputs.size());
  Task task(OpType::REDUCE_SCATTER_TENSOR_COALESCED);
  task.show(inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check_same_type({outputs[i]}, inputs[i]);
    task.call(cohort::reduce_scatter(task.numbers_from(inputs[i]), task.numbers_into(outputs[i]),
                                     op_for(inputs[i], options.reduceOp)));
  }
  task.give(outputs);
  return launch(std::move(task), options);
}

}  // namespace cohort::c10d_plugin
