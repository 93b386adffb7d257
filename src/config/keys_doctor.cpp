#include "config/sections.h"

namespace cohort::config {

using namespace std::chrono_literals;

std::vector<Key> doctor_keys() {
  return {
      flag("doctor.probe_libtorch", COHORT_FIELD(doctor.probe_libtorch), true,
           "Start a small program that loads libtorch and multiplies two matrices."),
      duration("doctor.probe_limit", COHORT_FIELD(doctor.probe_limit), 30s, {100ms, 10min},
               "How long a program started by the examination may run before it is ended."),
      real_number("doctor.memory_headroom", COHORT_FIELD(doctor.memory_headroom), 0.1, {0.0, 0.9},
                  "The share of the available memory that a job must leave free."),
  };
}

}  // namespace cohort::config
