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
  };
}

}  // namespace cohort::config
