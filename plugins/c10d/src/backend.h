#pragma once

#include "base/home_process.h"
#include "flight_recorder.h"
#include "group_allocator.h"
#include "joining.h"
#include "work.h"

#include <atomic>
#include <torch/csrc/distributed/c10d/Backend.hpp>

namespace cohort::c10d_plugin {

/// The backend `cohort` of torch.distributed, for CPU tensors.
///
/// Threads: one at a time, and the same calls in the same order on all ranks, as for every backend. A call
/// without async_op runs on the calling thread.
/// Failure: a DistBackendError names rank, operation and the missing ranks; after it every call of the group
/// fails. Any other RuntimeError reports invalid arguments and leaves the group usable. In a forked child
/// every call throws a RuntimeError, and destruction leaves the group to the parent.
/// Cost: up to three threads and one arena in each process for each group.
class CohortBackend final : public ::c10d::Backend {
 public:
  using Work = c10::intrusive_ptr<::c10d::Work>;
  using Tensors = std::vector<at::Tensor>;
  using TensorLists = std::vector<std::vector<at::Tensor>>;

  /// Waits for the other ranks.
  static c10::intrusive_ptr<CohortBackend> make(const Membership& membership,
                                                c10::intrusive_ptr<Options> options);
  CohortBackend(int rank, int world, c10::intrusive_ptr<Options> options, Joined joined);
  ~CohortBackend() override;

  const std::string getBackendName() const override { return options_->backend; }
  /// Returns a copy, as torch writes into the options when it makes subgroups from them.
  c10::intrusive_ptr<Options> getBackendOptions() override { return c10::make_intrusive<Options>(*options_); }
  void setTimeout(std::chrono::milliseconds timeout) override { options_->timeout = timeout; }
  bool supportsSplitting() const override { return true; }
  c10::intrusive_ptr<Backend> split(const c10::intrusive_ptr<::c10d::Store>& store,
                                    const std::vector<int>& ranks,
                                    const c10::intrusive_ptr<Options>& options) override;
  c10::intrusive_ptr<Backend> merge(const c10::intrusive_ptr<::c10d::Store>& store,
                                    const c10::intrusive_ptr<Options>& options, const int& rank,
                                    const int& world) override;
  /// The calls of a group are numbered from 1, equally on all ranks as long as these make the same calls.
  void setSequenceNumberForGroup() override {}
  std::uint64_t getSequenceNumberForGroup() override { return num_calls_; }
  ::c10d::ErrorType getError() override;
  void abort() override;
  void shutdown() override;
  bool supportsTensorAlloc(c10::DeviceIndex) override { return true; }
  /// Allocates in the arena; in ordinary memory once the arena is full. The tensor can be resized, as hooks
  /// of DDP do with buckets. DDP allocates its buckets here, see __init__.py.
  at::Tensor allocateTensor(long size, at::TensorOptions options) override;
  /// The transport of this group: `shared memory`, `hosts` or `hosts over ucx`.
  std::string kind() const;
  const std::shared_ptr<Arena>& arena() const { return arena_; }

  // Collectives on one tensor per rank.
  Work broadcast(Tensors& tensors, const ::c10d::BroadcastOptions& options) override;
  Work allreduce(Tensors& tensors, const ::c10d::AllreduceOptions& options) override;
  Work allreduce_sparse(Tensors& tensors, const ::c10d::AllreduceOptions& options) override;
  Work reduce(Tensors& tensors, const ::c10d::ReduceOptions& options) override;
  Work _allgather_base(at::Tensor& output, at::Tensor& input,
                       const ::c10d::AllgatherOptions& options) override;
  Work _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                            const ::c10d::ReduceScatterOptions& options) override;
  Work alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<std::int64_t>& output_splits,
                     std::vector<std::int64_t>& input_splits,
                     const ::c10d::AllToAllOptions& options) override;
  Work barrier(const ::c10d::BarrierOptions& options) override;
  void monitoredBarrier(const ::c10d::BarrierOptions& options, bool wait_for_all) override;

  // Collectives on a list with one tensor for each rank.
  Work allgather(TensorLists& outputs, Tensors& inputs, const ::c10d::AllgatherOptions& options) override;
  Work gather(TensorLists& outputs, Tensors& inputs, const ::c10d::GatherOptions& options) override;
  Work scatter(Tensors& outputs, TensorLists& inputs, const ::c10d::ScatterOptions& options) override;
  Work reduce_scatter(Tensors& outputs, TensorLists& inputs,
                      const ::c10d::ReduceScatterOptions& options) override;
  Work alltoall(Tensors& outputs, Tensors& inputs, const ::c10d::AllToAllOptions& options) override;

  // Several collectives in one call.
  Work allreduce_coalesced(Tensors& tensors, const ::c10d::AllreduceCoalescedOptions& options) override;
  Work allgather_coalesced(TensorLists& outputs, Tensors& inputs,
                           const ::c10d::AllgatherOptions& options) override;
  Work allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                       const ::c10d::AllgatherOptions& options) override;
  Work reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                       const ::c10d::ReduceScatterOptions& options) override;

  // Point-to-point.
  Work send(Tensors& tensors, int to, int tag) override;
  Work recv(Tensors& tensors, int from, int tag) override;
  Work recvAnysource(Tensors& tensors, int tag) override;

 private:
  /// The members of this group as ranks of the whole job.
  std::vector<std::uint64_t> ranks_of_job() const;
  std::chrono::nanoseconds limit_of(std::chrono::milliseconds timeout) const;
  std::shared_ptr<Communicator> group() const;
  void leave_to_parent();
  void end_within(std::chrono::nanoseconds limit);
  /// Runs the task on this thread, or starts it if it is asynchronous.
  Work launch(Task task, bool is_async, std::chrono::milliseconds timeout);
  template <class Options>
  Work launch(Task task, const Options& options) {
    return launch(std::move(task), options.asyncOp, options.timeout);
  }

  const c10::intrusive_ptr<Options> options_;
  const c10::intrusive_ptr<::c10d::Store> store_;
  const std::shared_ptr<Arena> arena_;
  GroupAllocator& tensors_ = GroupAllocator::make(arena_);
  const std::shared_ptr<OpenCount> open_tasks_ = std::make_shared<OpenCount>();
  const std::shared_ptr<FlightRecorder> recorder_;
  const HomeProcess home_;
  mutable std::mutex mutex_;
  std::shared_ptr<Communicator> group_;  // null after shutdown
  std::atomic<std::uint64_t> num_calls_ = 0;
  std::uint64_t num_monitored_barriers_ = 0;
};

/// The ReduceOp for an operation of torch. Throws RuntimeError if it is not supported for this tensor.
ReduceOp op_for(const at::Tensor& tensor, const ::c10d::ReduceOp& op);

}  // namespace cohort::c10d_plugin
