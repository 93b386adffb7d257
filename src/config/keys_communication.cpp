#include "config/sections.h"
#include <cohort/link_settings.h>

namespace cohort::config {
namespace {

std::vector<std::string> engines() {
  std::vector<std::string> words;
  for (const Engine engine : kAllEngines) words.emplace_back(name(engine));
  return words;
}

}  // namespace

std::vector<Key> communication_keys() {
  return {
      word(
          "communication.engine", COHORT_FIELD(communication.engine), engines(), "auto",
          "What carries calls between ranks: auto and tcp are shared memory on a host and TCP between hosts, "
          "ucx is UCX between hosts, mpi is for ranks that mpirun or srun started."),
      text("communication.algorithm", COHORT_FIELD(communication.algorithm),
           {.sentence =
                "The algorithm of every call between hosts that it serves; empty, the one predicted to "
                "be fastest.",
            .example = "ring"}),
      size("communication.chunk", COHORT_FIELD(communication.chunk), 0, {0, std::uint64_t{1} << 40},
           "The longest message of calls that combine, as longer ones travel in chunks; 0: whatever is "
           "predicted "
           "to be fastest."),
      word("communication.wire", COHORT_FIELD(communication.wire), {"same", "bf16", "f16"}, "same",
           "What sums travel as between hosts: as they are, or rounded to 16 bits; they are made in f32 "
           "either way."),
      whole_number(
          "communication.sockets", COHORT_FIELD(communication.sockets), 0, {0, 8},
          "TCP connections between two ranks of different hosts; 0: as many as the hosts have cables "
          "in common, where that is faster than one."),
      flag("communication.explain", COHORT_FIELD(communication.explain), false,
           "Rank 0 says on standard error what links cost and which algorithms are chosen."),
  };
}

}  // namespace cohort::config
