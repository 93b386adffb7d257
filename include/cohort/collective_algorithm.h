#pragma once

#include <cohort/export.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace cohort {

/// The algorithms of collective calls between hosts (docs/algorithms.md).
enum class CollectiveAlgorithm : std::uint8_t {
  kDirect,           ///< every rank sends to every other rank at once
  kHalvingDoubling,  ///< pairs of ranks halve the data, then double it back (butterfly)
  kDoubling,         ///< the number of parts sent doubles each round, for any number of ranks
  kSplit,            ///< direct reduce_scatter of even parts, then direct all_gather
  kRing,             ///< each rank sends segments to the next rank
  kTree,             ///< a binomial tree from the root
  kStar,             ///< the root exchanges messages with every rank
  kDissemination,    ///< every round signals the rank twice as far away
  kHierarchical,     ///< inside each host first, then between hosts
};

inline constexpr CollectiveAlgorithm kAllCollectiveAlgorithms[] = {
    CollectiveAlgorithm::kDirect,      CollectiveAlgorithm::kHalvingDoubling,
    CollectiveAlgorithm::kDoubling,    CollectiveAlgorithm::kSplit,
    CollectiveAlgorithm::kRing,        CollectiveAlgorithm::kTree,
    CollectiveAlgorithm::kStar,        CollectiveAlgorithm::kDissemination,
    CollectiveAlgorithm::kHierarchical};

/// `ring`, `halving_doubling`, …, as in job files.
COHORT_EXPORT std::string_view name(CollectiveAlgorithm algorithm);
/// The algorithm with this name; empty for an unknown name.
COHORT_EXPORT std::optional<CollectiveAlgorithm> collective_algorithm_named(std::string_view name);

}  // namespace cohort
