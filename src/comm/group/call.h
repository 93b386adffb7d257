#pragma once

#include "base/clock.h"
#include "base/result.h"
#include <cohort/numbers.h>
#include <cohort/reduce_op.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort {

/// The operations of a Communicator: collectives, send and receive.
enum class Operation : std::uint8_t {
  kBarrier,
  kAllReduce,
  kReduce,
  kBroadcast,
  kReduceScatter,
  kAllGather,
  kGather,
  kScatter,
  kAllToAll,
  kSend,
  kReceive,
};

inline constexpr Operation kAllOperations[] = {
    Operation::kBarrier,       Operation::kAllReduce, Operation::kReduce, Operation::kBroadcast,
    Operation::kReduceScatter, Operation::kAllGather, Operation::kGather, Operation::kScatter,
    Operation::kAllToAll,      Operation::kSend,      Operation::kReceive};

/// `all_reduce`, `send`, …
std::string_view name(Operation operation);

/// Gets a result piece by piece, in order, while each piece is in the cache. `first` is the index in the
/// output at which the piece begins. Must not throw, nor call the communicator.
using Consumer = std::function<void(std::size_t first, ConstNumbers piece)>;

/// As the rank to receive from: any rank, as MPI_ANY_SOURCE.
inline constexpr int kAnyRank = -1;

/// One operation with its arguments on one rank: plain data, made by the functions below, given to a
/// Communicator.
///
/// Lifetime: the caller owns the numbers, which must live, unmoved and untouched, until the operation is
/// done.
struct Call {
  Operation operation = Operation::kBarrier;
  ConstNumbers input{};  ///< numbers that this rank contributes
  Numbers output{};      ///< gets the result; in place if it begins at the address of the input
  ReduceOp reduce_op = ReduceOp::kSum;
  int peer = 0;              ///< the root of a collective; the other rank of send and receive
  int* source = nullptr;     ///< of receive: gets the rank of the sender; must live as long as the numbers
  std::uint32_t tag = 0;     ///< of send and receive: equal tags match, in order
  bool takes_fewer = false;  ///< of receive: fewer numbers may come than there is room for
  /// Elements per rank where they differ; empty: all the same. `input_counts` cut the input (scatter at the
  /// root, all_to_all, reduce_scatter), `output_counts` the output (gather at the root, all_gather,
  /// all_to_all).
  std::vector<std::size_t> input_counts{};
  std::vector<std::size_t> output_counts{};
  /// Timeout, from the start of the call; if absent, that of the communicator. No call waits for ever.
  std::optional<std::chrono::nanoseconds> limit{};

  /// For reduce_scatter: receives the result piece by piece; the content of the output is then unspecified.
  /// Must live as long as the numbers. May be called on another thread than the caller's, while that one
  /// waits. An exception of the consumer fails the group, on all ranks, and is the error of the call: see
  /// consumer_failure().
  const Consumer* consumer = nullptr;

  /// The same call with this timeout: `run(barrier().within(2s))`.
  [[nodiscard]] Call within(std::chrono::nanoseconds time) const;
  /// The same receive, which also accepts fewer numbers than its output can hold.
  [[nodiscard]] Call or_fewer() const;
  /// The same reduce_scatter, whose result goes to a consumer.
  [[nodiscard]] Call handed_to(const Consumer& taker) const;
  /// The dtype of the numbers: that of the output where not every rank has an input.
  DType dtype() const {
    return operation == Operation::kScatter || operation == Operation::kReceive ? output.dtype : input.dtype;
  }
  /// `all_reduce of 1024 f32 (sum)`.
  std::string text() const;
};

/// Returns when every rank has called.
Call barrier();
/// Combines the numbers of all ranks; every rank gets the result, in place.
Call all_reduce(Numbers numbers, ReduceOp op = ReduceOp::kSum);
/// An all-reduce from one buffer into another.
Call all_reduce(ConstNumbers from, Numbers to, ReduceOp op = ReduceOp::kSum);
/// As all_reduce, but only the root gets the result; other ranks ignore `to`.
Call reduce(ConstNumbers from, Numbers to, int root, ReduceOp op = ReduceOp::kSum);
/// Copies the root's numbers to every rank.
Call broadcast(Numbers numbers, int root);
/// Combines the numbers of all ranks; rank r gets the r-th part of the result. Parts are equal, or
/// `counts[r]` elements long. `to` may be part r of `from`.
Call reduce_scatter(ConstNumbers from, Numbers to, ReduceOp op = ReduceOp::kSum,
                    std::vector<std::size_t> counts = {});
/// Every rank gets the numbers of all ranks, in the order of ranks. `from` may be part r of `to`.
Call all_gather(ConstNumbers from, Numbers to, std::vector<std::size_t> counts = {});
/// As all_gather, but only the root gets the numbers; other ranks ignore `to` and `counts`.
Call gather(ConstNumbers from, Numbers to, int root, std::vector<std::size_t> counts = {});
/// Rank r gets the r-th part of the root's numbers; other ranks ignore `from` and `counts`.
Call scatter(ConstNumbers from, Numbers to, int root, std::vector<std::size_t> counts = {});
/// Part s of rank r's input becomes part r of rank s's output. Not in place.
Call all_to_all(ConstNumbers from, Numbers to);
/// All-to-all with parts of any length: `from_counts[s]` go to rank s, `to_counts[r]` come from rank r.
Call all_to_all(ConstNumbers from, Numbers to, std::vector<std::size_t> from_counts,
                std::vector<std::size_t> to_counts);
/// Sends to one rank. Done when the numbers may be overwritten: possibly before they are received, but with
/// more than 256 KiB not before the other rank has called receive.
Call send(ConstNumbers numbers, int to, std::uint32_t tag = 0);
/// Receives from one rank. Count and dtype must be those of the sender; see or_fewer().
Call recv(Numbers numbers, int from, std::uint32_t tag = 0);
/// Receives from the rank that sends first under this tag; `source` gets that rank. Receives of one tag match
/// messages in the order in which the receives were started.
Call recv_any(Numbers numbers, int& source, std::uint32_t tag = 0);

/// The error of a call whose consumer threw on the rank of this global number: the exception with that rank,
/// unless it is about another one. kBug if the exception is no Error.
Error consumer_failure(const std::exception& thrown, int global_rank);

/// Finds mistakes that are wrong whatever the other ranks do, in counts, dtypes, roots and overlaps: kUsage
/// with a remedy.
Status check_call(const Call& call, int rank, int world);

}  // namespace cohort
