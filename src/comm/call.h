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

/// What ranks do together.
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
std::optional<Operation> operation_named(std::string_view name);

/// Takes a result piece by piece, in order, while it is in the cache. `first` is where the piece begins in
/// the output. May not throw, nor call the communicator.
using Consumer = std::function<void(std::size_t first, ConstNumbers piece)>;

/// As the rank to receive from: whoever sends first.
inline constexpr int kAnyRank = -1;

/// One operation as one rank asks for it: plain data, made by the functions below, given to a Communicator.
///
/// Lifetime: the numbers stay the caller's and must live, unmoved and untouched, until the operation is done.
struct Call {
  Operation operation = Operation::kBarrier;
  ConstNumbers input{};  ///< what this rank gives
  Numbers output{};      ///< what this rank gets; in place if it begins where the input does
  ReduceOp reduce_op = ReduceOp::kSum;
  int peer = 0;              ///< the root, or the other end of send and receive
  int* source = nullptr;     ///< of receive: gets the rank that sent; must live as long as the numbers
  std::uint32_t tag = 0;     ///< of send and receive: equal tags meet, in order
  bool takes_fewer = false;  ///< of receive: fewer numbers may come than there is room for
  /// Elements per rank where they differ; empty: all the same. `input_counts` cut the input (scatter at the
  /// root, all_to_all, reduce_scatter), `output_counts` the output (gather at the root, all_gather,
  /// all_to_all).
  std::vector<std::size_t> input_counts{};
  std::vector<std::size_t> output_counts{};
  /// From the start of the call; if absent, the limit of the communicator. There is no endless one.
  std::optional<std::chrono::nanoseconds> limit{};

  /// Of reduce_scatter: gets the result, and what the output then holds is not said. Must live as long as the
  /// numbers.
  const Consumer* consumer = nullptr;

  /// The same call with a limit of its own: `run(barrier().within(2s))`.
  [[nodiscard]] Call within(std::chrono::nanoseconds time) const;
  /// The same receive, of as many numbers as are sent, if there is room for them.
  [[nodiscard]] Call or_fewer() const;
  /// The same reduce_scatter, its result handed to a consumer.
  [[nodiscard]] Call handed_to(const Consumer& taker) const;
  /// The kind of numbers it is about: the output's where not every rank has an input.
  DType dtype() const {
    return operation == Operation::kScatter || operation == Operation::kReceive ? output.dtype : input.dtype;
  }
  /// `all_reduce of 1024 f32 (sum)`.
  std::string text() const;
};

/// Nobody returns before everybody has called.
Call barrier();
/// Every rank's numbers are combined; every rank gets the result, in place.
Call all_reduce(Numbers numbers, ReduceOp op = ReduceOp::kSum);
/// The same from one buffer into another.
Call all_reduce(ConstNumbers from, Numbers to, ReduceOp op = ReduceOp::kSum);
/// Only the root gets the result; `to` is looked at there only.
Call reduce(ConstNumbers from, Numbers to, int root, ReduceOp op = ReduceOp::kSum);
/// The root's numbers reach every rank.
Call broadcast(Numbers numbers, int root);
/// Rank r gets the r-th part of the combination. Parts are equal, or `counts[r]` long. `to` may be part r of
/// `from`.
Call reduce_scatter(ConstNumbers from, Numbers to, ReduceOp op = ReduceOp::kSum,
                    std::vector<std::size_t> counts = {});
/// Every rank gets every rank's numbers, in the order of ranks. `from` may be part r of `to`.
Call all_gather(ConstNumbers from, Numbers to, std::vector<std::size_t> counts = {});
/// Only the root gets them; `to` and `counts` are looked at there only.
Call gather(ConstNumbers from, Numbers to, int root, std::vector<std::size_t> counts = {});
/// Rank r gets the r-th part of the root's numbers; `from` and `counts` are looked at there only.
Call scatter(ConstNumbers from, Numbers to, int root, std::vector<std::size_t> counts = {});
/// Part s of rank r's numbers becomes part r of what rank s gets. Not in place.
Call all_to_all(ConstNumbers from, Numbers to);
/// With parts of any length: `from_counts[s]` go to rank s, `to_counts[r]` come from rank r.
Call all_to_all(ConstNumbers from, Numbers to, std::vector<std::size_t> from_counts,
                std::vector<std::size_t> to_counts);
/// To one rank. Done when the numbers may be overwritten, which may be before they were received; of more
/// than 256 KiB not before the other rank receives.
Call send(ConstNumbers numbers, int to, std::uint32_t tag = 0);
/// From one rank. Count and type must be those of the sender; see or_fewer().
Call receive(Numbers numbers, int from, std::uint32_t tag = 0);
/// From whoever sends first under this tag; `source` gets its rank. Receives of one tag meet messages in the
/// order in which they were made.
Call receive_any(Numbers numbers, int& source, std::uint32_t tag = 0);

/// Finds what cannot be right whatever the other ranks do: counts, types, roots, overlaps. kUsage with what
/// to do.
Status check_call(const Call& call, int rank, int world);

}  // namespace cohort
