#include "config/sections.h"
#include <cohort/link_settings.h>

namespace cohort::config {
namespace {

std::vector<std::string> backends() {
  std::vector<std::string> words;
  for (const Backend backend : kAllBackends) words.emplace_back(name(backend));
  return words;
}

}  // namespace

std::vector<Key> communication_keys() {
  return {
      word("communication.backend", COHORT_FIELD(communication.backend), backends(), "auto",
           "The transport between ranks: auto and tcp are shared memory on a host and TCP between hosts, ucx "
           "is "
           "UCX between hosts, mpi is MPI for ranks that mpirun or srun started."),
      text("communication.algorithm", COHORT_FIELD(communication.algorithm),
           {.sentence =
                "The algorithm of every call between hosts that it can do; empty: the algorithm with the "
                "shortest predicted time.",
            .example = "ring"}),
      size("communication.chunk", COHORT_FIELD(communication.chunk), 0, {0, std::uint64_t{1} << 40},
           "The longest message of reductions, as longer ones are sent in chunks; 0: the length with the "
           "shortest predicted time."),
      word("communication.wire", COHORT_FIELD(communication.wire), {"same", "bf16", "f16"}, "same",
           "The dtype in which f32 numbers of reductions are sent between hosts; sums are computed in f32 in "
           "any case."),
      whole_number(
          "communication.sockets", COHORT_FIELD(communication.sockets), 0, {0, 8},
          "TCP connections between two ranks of different hosts; 0: one per network that the hosts have in "
          "common, if that is faster than one connection."),
      flag("communication.explain", COHORT_FIELD(communication.explain), false,
           "Write the measured costs of links and the chosen algorithms to the standard error of rank 0."),
  };
}

}  // namespace cohort::config
