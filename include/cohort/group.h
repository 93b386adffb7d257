#pragma once

#include <cohort/export.h>
#include <cohort/numbers.h>
#include <cohort/reduce_op.h>
#include <cohort/work.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace at {
class Tensor;
}

namespace cohort {

class Arena;
class Communicator;
struct Call;

/// Ranks that make collective calls together, as an MPI communicator or a ProcessGroup of torch.distributed.
/// A Context is the group of all ranks; split() and along() make smaller ones.
///
///     std::vector<float> sums = …;
///     context.all_reduce(sums);
///     std::optional<cohort::Group> evens = context.split(context.rank() % 2);
///     evens->broadcast(sums, 0);
///
/// Numbers are views of std::vector, std::array, std::span and the like, or a pointer, a count and a DType.
///
/// Threads: every method from any thread. All ranks must make the same calls in the same order, so use one
/// group from one thread at a time; different groups may be used at the same time from different threads.
/// Lifetime: a group may outlive the Context it was made from. The destructor does not wait for other ranks:
/// those that still wait for this one get an error.
/// Failure: methods throw Error. kPeerLost names the lost rank, kTimedOut the rank that has not made the
/// call, both as numbered among all ranks: see Error::rank(). UsageError describes calls that do not match.
/// After the first failure every later call of the group throws the same error; other groups without the lost
/// rank go on.
class COHORT_EXPORT Group {
 public:
  Group(Group&& other) noexcept;
  Group& operator=(Group&& other) noexcept;
  ~Group();

  int rank() const;
  int size() const;
  const std::string& name() const;  ///< for messages

  /// Returns once all ranks have called it.
  void barrier();
  /// Combines the numbers of all ranks element by element; every rank gets the result, in place.
  void all_reduce(Numbers numbers, ReduceOp op = ReduceOp::kSum);
  /// Like all_reduce(), but only the root gets the result, in `to`.
  void reduce(ConstNumbers from, Numbers to, int root, ReduceOp op = ReduceOp::kSum);
  /// Copies the root's numbers to every rank.
  void broadcast(Numbers numbers, int root = 0);
  /// Combines like all_reduce(), then rank r gets the r-th of the equal parts of the result.
  void reduce_scatter(ConstNumbers from, Numbers to, ReduceOp op = ReduceOp::kSum);
  /// Every rank gets the numbers of all ranks, one after the other in rank order.
  void all_gather(ConstNumbers from, Numbers to);
  /// Like all_gather(), but only the root gets the result.
  void gather(ConstNumbers from, Numbers to, int root);
  /// Rank r gets the r-th of the equal parts of the root's numbers.
  void scatter(ConstNumbers from, Numbers to, int root);
  /// Cuts the numbers of every rank into one part per rank: part s of rank r becomes part r of rank s.
  void all_to_all(ConstNumbers from, Numbers to);
  void send(ConstNumbers numbers, int to, std::uint32_t tag = 0);
  void recv(Numbers numbers, int from, std::uint32_t tag = 0);
  /// Receives from the rank that sends first under this tag, and returns that rank.
  int recv_any(Numbers numbers, std::uint32_t tag = 0);

  // The same calls on tensors in CPU memory, of any strides. DType and number of elements must be equal on
  // all ranks.
  void all_reduce(const at::Tensor& tensor, ReduceOp op = ReduceOp::kSum);
  /// Only the root's tensor receives the result.
  void reduce(const at::Tensor& tensor, int root, ReduceOp op = ReduceOp::kSum);
  void broadcast(const at::Tensor& tensor, int root = 0);
  /// Combines, then rank r gets the r-th part along the first dim, whose size must be a multiple of the
  /// number of ranks.
  at::Tensor reduce_scatter(const at::Tensor& tensor, ReduceOp op = ReduceOp::kSum);
  /// The tensors of all ranks, stacked along a new first dim.
  at::Tensor all_gather(const at::Tensor& tensor);
  /// Part s of rank r along the first dim becomes part r of the result on rank s.
  at::Tensor all_to_all(const at::Tensor& tensor);
  /// This rank's part of a tensor that all ranks have, along the first dim: a view. The parts differ by at
  /// most one row. Without communication.
  at::Tensor part_of(const at::Tensor& tensor) const;
  void send(const at::Tensor& tensor, int to, std::uint32_t tag = 0);
  void recv(const at::Tensor& tensor, int from, std::uint32_t tag = 0);

  // The same calls in the background. The calls of a group proceed in the order in which they were made.
  Work async_barrier();
  Work async_all_reduce(Numbers numbers, ReduceOp op = ReduceOp::kSum);
  Work async_reduce(ConstNumbers from, Numbers to, int root, ReduceOp op = ReduceOp::kSum);
  Work async_broadcast(Numbers numbers, int root = 0);
  Work async_reduce_scatter(ConstNumbers from, Numbers to, ReduceOp op = ReduceOp::kSum);
  Work async_all_gather(ConstNumbers from, Numbers to);
  Work async_gather(ConstNumbers from, Numbers to, int root);
  Work async_scatter(ConstNumbers from, Numbers to, int root);
  Work async_all_to_all(ConstNumbers from, Numbers to);
  Work async_send(ConstNumbers numbers, int to, std::uint32_t tag = 0);
  Work async_recv(Numbers numbers, int from, std::uint32_t tag = 0);

  // On contiguous tensors in CPU memory, which the Work keeps alive.
  Work async_all_reduce(const at::Tensor& tensor, ReduceOp op = ReduceOp::kSum);
  Work async_broadcast(const at::Tensor& tensor, int root = 0);
  Work async_send(const at::Tensor& tensor, int to, std::uint32_t tag = 0);
  Work async_recv(const at::Tensor& tensor, int from, std::uint32_t tag = 0);

  /// Divides the group: ranks with the same colour form a new group, ordered by (key, rank). Every rank of
  /// this group calls it; a rank without a colour gets no group.
  std::optional<Group> split(std::optional<int> colour, int key = 0, const std::string& name = "split");
  /// Takes the ranks for the points of a grid of this shape, as a PyTorch DeviceMesh, the last axis fastest:
  /// the group of the ranks that differ from this one along `axes` only. Every rank of this group calls it.
  ///
  ///     // ranks 0 1 2 / 3 4 5: rank 4 is in a row with 3 and 5, and in a column with 1
  ///     cohort::Group row = context.along({1}, {2, 3});
  ///     cohort::Group column = context.along({0}, {2, 3});
  Group along(const std::vector<int>& axes, const std::vector<int>& shape);

  /// Ends every pending call of the group on all ranks with an error that carries this reason.
  void abort(std::string_view why);

  // For code of Cohort. The group and its memory live for as long as a copy of the result of hold().
  Communicator& communicator() const;
  Arena& arena() const;
  std::shared_ptr<void> hold() const;

 protected:
  struct Parts;
  Work start(const Call& call);
  /// The same Work, which keeps `thing` alive until its call is done.
  static Work keeping(Work work, std::shared_ptr<void> thing);
  explicit Group(std::shared_ptr<Parts> parts);
  static Group made_of(std::shared_ptr<Parts> parts) { return Group(std::move(parts)); }
  std::shared_ptr<Parts> parts_;
};

}  // namespace cohort
