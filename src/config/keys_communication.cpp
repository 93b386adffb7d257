#include "config/key_reading.h"
#include "config/sections.h"
#include <cohort/link_settings.h>

#include <span>

namespace cohort::config {
namespace {

template <class Enumerator>
std::vector<std::string> names_of(std::span<const Enumerator> all) {
  std::vector<std::string> words;
  for (const Enumerator each : all) words.emplace_back(name(each));
  return words;
}

// The word auto is choice 0, the first algorithm is choice 1.
Key algorithm_key() {
  std::vector<std::string> words = names_of<CollectiveAlgorithm>(kAllCollectiveAlgorithms);
  words.insert(words.begin(), std::string(kAuto));
  const auto set = [](Config& config, std::size_t index) {
    config.communication.algorithm.reset();
    if (index > 0) config.communication.algorithm = kAllCollectiveAlgorithms[index - 1];
  };
  const auto get = [](const Config& config) -> std::size_t {
    const auto algorithm = config.communication.algorithm;
    return algorithm ? static_cast<std::size_t>(*algorithm) + 1 : 0;
  };
  return choice("communication.algorithm", words, std::string(kAuto), set, get,
                "The algorithm of every call between hosts that it can do; auto: the algorithm with the "
                "shortest predicted time.");
}

}  // namespace

std::vector<Key> communication_keys() {
  return {
      word("communication.backend", COHORT_FIELD(communication.backend), names_of<Backend>(kAllBackends),
           "auto",
           "The transport between ranks: auto and tcp are shared memory on a host and TCP between hosts, ucx "
           "is "
           "UCX between hosts, mpi is MPI for ranks that mpirun or srun started."),
      algorithm_key(),
      size_or_auto("communication.chunk", COHORT_FIELD(communication.chunk),
                   {LinkSettings::kLeastChunkBytes, std::uint64_t{1} << 40},
                   "The longest message of reductions, as longer ones are sent in chunks; auto: the length "
                   "with the shortest predicted time."),
      whole_number_or_auto(
          "communication.sockets", COHORT_FIELD(communication.sockets), {1, LinkSettings::kMostSockets},
          "TCP connections between two ranks of different hosts; auto: one per network that the hosts have "
          "in common, if that is faster than one connection."),
      flag("communication.explain", COHORT_FIELD(communication.explain), false,
           "Write the measured costs of links and the chosen algorithms to the standard error of rank 0."),
  };
}

}  // namespace cohort::config
