#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cohort::measure {

/// The operations of `cohort bench comm`. `bytes` of a cell is S, the size of the whole buffer of one rank:
///
///     all_reduce, broadcast    S on every rank before and after
///     reduce                   S on every rank before, S at the root after
///     all_gather, gather       S is the gathered buffer; a rank sends S / ranks
///     reduce_scatter, scatter  S is the divided buffer; a rank receives S / ranks
///     all_to_all               a rank sends S and receives S, in parts of S / ranks
///     send_receive             S to the partner (0 and 1, 2 and 3, …) and S back; half of the time counts
///     barrier                  no bytes
enum class BenchOperation : std::uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kAllToAll,
  kReduce,
  kGather,
  kScatter,
  kBarrier,
  kSendReceive,
};

inline constexpr BenchOperation kAllBenchOperations[] = {
    BenchOperation::kAllReduce,  BenchOperation::kReduceScatter, BenchOperation::kAllGather,
    BenchOperation::kBroadcast,  BenchOperation::kAllToAll,      BenchOperation::kReduce,
    BenchOperation::kGather,     BenchOperation::kScatter,       BenchOperation::kBarrier,
    BenchOperation::kSendReceive};

/// The name: `all_reduce`, `send_receive`, …
std::string_view name(BenchOperation operation);
std::optional<BenchOperation> bench_operation_named(std::string_view name);

/// The number of f32 elements of the whole buffer: `bytes`, rounded up to whole elements, and to equal parts
/// for every rank where the operation divides the buffer.
std::size_t elements_of(BenchOperation operation, std::uint64_t bytes, int ranks);

/// Bus bandwidth is S × this factor / time: the least that a link of each rank must carry.
double bus_factor(BenchOperation operation, int ranks);

/// The side of an operation with a root that a rank is on.
enum class Part { kRoot, kOther };

/// The bytes that a rank must copy at least, counted as memcpy counts: half of the bytes that it must read
/// plus half of those that it must write, if every rank can read every buffer. all_reduce reads S and writes
/// S, hence S.
std::size_t copied_bytes(BenchOperation operation, std::size_t elements, int ranks, Part part);

}  // namespace cohort::measure
