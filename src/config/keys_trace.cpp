#include "config/sections.h"

namespace cohort::config {

std::vector<Key> trace_keys() {
  return {
      text("trace.file", COHORT_FIELD(trace.file),
           {.sentence = "The file for the times of all actions and calls of the newest steps, as JSON, "
                        "written at the end "
                        "of training; empty: nothing is recorded.",
            .example = "trace.json"}),
      whole_number("trace.capacity", COHORT_FIELD(trace.capacity), 16384, {1, 1 << 24},
                   "The number of actions of each lane, and of calls, that are kept: the newest."),
  };
}

}  // namespace cohort::config
