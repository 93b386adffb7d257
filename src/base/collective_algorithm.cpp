#include <cohort/collective_algorithm.h>

#include <array>
#include <cstddef>

namespace cohort {
namespace {

constexpr std::array<std::string_view, std::size(kAllCollectiveAlgorithms)> kAlgorithmNames = {
    "direct", "halving_doubling", "doubling",    "split", "ring", "tree",
    "star",   "dissemination",    "hierarchical"};

}  // namespace

std::string_view name(CollectiveAlgorithm algorithm) {
  return kAlgorithmNames[static_cast<std::size_t>(algorithm)];
}

std::optional<CollectiveAlgorithm> collective_algorithm_named(std::string_view name) {
  for (const CollectiveAlgorithm algorithm : kAllCollectiveAlgorithms) {
    if (cohort::name(algorithm) == name) return algorithm;
  }
  return std::nullopt;
}

}  // namespace cohort
