#include "measure/bench_operation.h"

#include <algorithm>
#include <array>

namespace cohort::measure {
namespace {

constexpr std::array<std::string_view, std::size(kAllBenchOperations)> kNames = {
    "all_reduce", "reduce_scatter", "all_gather", "broadcast", "all_to_all",
    "reduce",     "gather",         "scatter",    "barrier",   "send_receive"};

bool cuts_the_buffer(BenchOperation operation) {
  switch (operation) {
    case BenchOperation::kReduceScatter:
    case BenchOperation::kAllGather:
    case BenchOperation::kAllToAll:
    case BenchOperation::kGather:
    case BenchOperation::kScatter:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string_view name(BenchOperation operation) {
  return kNames[static_cast<std::size_t>(operation)];
}

std::optional<BenchOperation> bench_operation_named(std::string_view name) {
  const auto* const found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return kAllBenchOperations[found - kNames.begin()];
}

std::size_t elements_of(BenchOperation operation, std::uint64_t bytes, int ranks) {
  if (operation == BenchOperation::kBarrier) return 0;
  const std::size_t whole = std::max<std::size_t>(1, (bytes + sizeof(float) - 1) / sizeof(float));
  if (!cuts_the_buffer(operation)) return whole;
  const auto parts = static_cast<std::size_t>(ranks);
  return (whole + parts - 1) / parts * parts;
}

double bus_factor(BenchOperation operation, int ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  switch (operation) {
    case BenchOperation::kAllReduce:
      return 2 * others;
    case BenchOperation::kBroadcast:
    case BenchOperation::kReduce:
    case BenchOperation::kSendReceive:
      return 1;
    case BenchOperation::kBarrier:
      return 0;
    default:
      return others;
  }
}

std::size_t copied_bytes(BenchOperation operation, std::size_t elements, int ranks, Part part) {
  const std::size_t whole = elements * sizeof(float);
  const auto n = static_cast<std::size_t>(ranks);
  switch (operation) {
    case BenchOperation::kAllReduce:
    case BenchOperation::kAllGather:
    case BenchOperation::kAllToAll:
    case BenchOperation::kSendReceive:
      return whole;
    case BenchOperation::kBroadcast:
      return part == Part::kRoot ? 0 : whole;
    case BenchOperation::kGather:
      return part == Part::kRoot ? whole : 0;
    case BenchOperation::kScatter:
      return whole / n;
    case BenchOperation::kReduceScatter:
    case BenchOperation::kReduce:  // the ranks can divide the reading of ranks × S and the writing of S among
                                   // themselves
      return whole * (n + 1) / (2 * n);
    case BenchOperation::kBarrier:
      return 0;
  }
  return 0;
}

}  // namespace cohort::measure
