#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cohort::measure {

/// What can be measured. `bytes` of a cell is S, the size of the whole buffer of one rank:
///
///   all_reduce, broadcast, reduce        S on every rank before and after (of reduce: after, at the root)
///   all_gather, gather                   S is what was gathered; a rank gives S / ranks
///   reduce_scatter, scatter              S is what is cut; a rank gets S / ranks
///   all_to_all                           S goes out and S comes in, in parts of S / ranks
///   send_receive                         S to the neighbour (0 and 1, 2 and 3, …) and S back; the time is
///   half of it barrier                              no bytes
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

/// `all_reduce`, `send_receive`, …
std::string_view name(BenchOperation operation);
std::optional<BenchOperation> bench_operation_named(std::string_view name);

/// Elements (f32) of the whole buffer: `bytes`, rounded up to whole elements and to equal parts for every
/// rank where the operation cuts it.
std::size_t elements_of(BenchOperation operation, std::uint64_t bytes, int ranks);

/// Bus bandwidth is S × this / time: what a link of each rank must carry at least.
double bus_factor(BenchOperation operation, int ranks);

/// Which side of an operation with a root a rank is on.
enum class Part { kRoot, kOther };

/// Bytes that a rank must copy at least, counted as memcpy would be: half of what it must read plus half of
/// what it must write when every rank can read every buffer. all_reduce: reads S, writes S, hence S.
std::size_t copied_bytes(BenchOperation operation, std::size_t elements, int ranks, Part part);

}  // namespace cohort::measure
