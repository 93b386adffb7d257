#pragma once

#include <cohort/export.h>
#include <cohort/link_settings.h>
#include <cohort/numbers.h>
#include <cohort/reduce_op.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace at {
class Tensor;
}

namespace cohort {

class Arena;
class Communicator;

struct ContextOptions {
  /// How long a call waits for the other ranks. There is no endless wait.
  std::chrono::nanoseconds limit = std::chrono::seconds(30);
  /// How long a rank may show no sign of life before it counts as lost. A slow one shows signs of life.
  std::chrono::nanoseconds liveness = std::chrono::milliseconds(500);
  /// How long another host may be out of reach before its ranks count as lost; what was under way when a
  /// connection broke goes on when it comes back before. A process that ended is seen at once.
  std::chrono::nanoseconds link_limit = std::chrono::seconds(5);
  /// How long all ranks may take to come together.
  std::chrono::nanoseconds meeting_limit = std::chrono::seconds(30);
  /// Address space for memory that ranks share; it takes memory only as far as it is used.
  std::size_t arena_bytes = std::size_t{8} << 30;
  /// What carries calls from rank to rank. What is set here wins over COHORT_ENGINE and COHORT_ALGORITHM.
  LinkSettings links{};
};

/// This process as one of the ranks that were started together, by `cohort run`, mpirun, srun or torchrun.
/// Started by nobody, it is the only rank of a world of one, and everything works the same.
///
///     cohort::Context context;
///     std::vector<float> sums = …;
///     context.all_reduce(std::span(sums));
///
/// Threads: every method from any thread, but all ranks must make the same calls in the same order.
/// Lifetime: memory from allocate() lives as long as this. The destructor waits for nobody.
/// Failure: throws Error; the first failure sticks. kPeerLost names the rank that is gone, kTimedOut the one
/// that has not arrived, UsageError the calls that do not fit each other. With the engine mpi, where MPI does
/// not go on without lost ranks, a failure ends the job instead, with its cause on standard error.
/// Cost: the constructor waits for all ranks. With the engine mpi a process that ends well waits for all
/// ranks to do so.
class COHORT_EXPORT Context {
 public:
  explicit Context(const ContextOptions& options = {});
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  int rank() const;
  int world() const;
  int local_rank() const;   ///< among the ranks of this host
  int local_world() const;  ///< the number of ranks on this host

  /// Nobody returns before everybody has called.
  void barrier();
  /// Every rank's numbers are combined; every rank gets the result, in place.
  void all_reduce(Numbers numbers, ReduceOp op = ReduceOp::kSum);
  /// Only the root gets the result, in `to`.
  void reduce(ConstNumbers from, Numbers to, int root, ReduceOp op = ReduceOp::kSum);
  /// The root's numbers reach every rank.
  void broadcast(Numbers numbers, int root = 0);
  /// Rank r gets the r-th part of the combination.
  void reduce_scatter(ConstNumbers from, Numbers to, ReduceOp op = ReduceOp::kSum);
  /// Every rank gets every rank's numbers, in the order of ranks.
  void all_gather(ConstNumbers from, Numbers to);
  /// Only the root gets them.
  void gather(ConstNumbers from, Numbers to, int root);
  /// Rank r gets the r-th part of the root's numbers.
  void scatter(ConstNumbers from, Numbers to, int root);
  /// Part s of rank r's numbers becomes part r of what rank s gets.
  void all_to_all(ConstNumbers from, Numbers to);
  void send(ConstNumbers numbers, int to, std::uint32_t tag = 0);
  void receive(Numbers numbers, int from, std::uint32_t tag = 0);

  // The same on tensors in CPU memory, of any strides. The kinds must be equal on all ranks.
  void all_reduce(const at::Tensor& tensor, ReduceOp op = ReduceOp::kSum);
  void reduce(const at::Tensor& tensor, int root, ReduceOp op = ReduceOp::kSum);  ///< the root's, in place
  void broadcast(const at::Tensor& tensor, int root = 0);
  /// Rank r gets the r-th part of the combination along the first dim, which the world must divide.
  at::Tensor reduce_scatter(const at::Tensor& tensor, ReduceOp op = ReduceOp::kSum);
  /// Every rank's tensor, stacked along a new first dim.
  at::Tensor all_gather(const at::Tensor& tensor);
  /// Part s of rank r, along the first dim, becomes part r of what rank s gets.
  at::Tensor all_to_all(const at::Tensor& tensor);
  void send(const at::Tensor& tensor, int to, std::uint32_t tag = 0);
  void receive(const at::Tensor& tensor, int from, std::uint32_t tag = 0);
  /// A zeroed tensor in memory that the ranks of this host share, shaped like another.
  at::Tensor allocate_like(const at::Tensor& tensor);

  /// Zeroed memory that the ranks of this host share: calls on it copy nothing.
  template <class T>
  std::span<T> allocate(std::size_t count) {
    return {static_cast<T*>(allocate_elements(count, sizeof(T))), count};
  }

  /// Ends every call that is pending, on all ranks, with this reason.
  void abort(std::string_view why);

  /// Goes on with the ranks that are left, after kPeerLost; every one of them calls this, and nobody may be
  /// in another call. rank() and world() are counted anew; local_rank() and local_world() stay what the
  /// launcher said. kUnsupported where the engine cannot: MPI can, under `mpirun --with-ft ulfm`.
  void shrink();

  /// What everything above is made with; another one after shrink().
  Communicator& communicator();
  Arena& arena();

 private:
  void* allocate_elements(std::size_t count, std::size_t element_bytes);

  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cohort
