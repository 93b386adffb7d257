#include "config/sections.h"

namespace cohort::config {
namespace {

constexpr int kMost = 1'000'000'000;

}  // namespace

std::vector<Key> checkpoint_keys() {
  return {
      interval(
          "checkpoint.every", COHORT_FIELD(checkpoint.every), "\"500 steps\"",
          "Steps or time between snapshots of the training, from which `cohort train --resume` goes on; "
          "the last one is written at the end, or when training is told to stop; unset: none are written."),
      optional_text("checkpoint.directory", COHORT_FIELD(checkpoint.directory),
                    {"The folder of the snapshots, which all hosts must share; unset: checkpoints in the "
                     "folder of the run.",
                     "/shared/first"}),
      whole_number("checkpoint.keep_last", COHORT_FIELD(checkpoint.keep_last), 3, {1, kMost},
                   "The number of newest snapshots that are kept."),
      whole_number("checkpoint.keep_best", COHORT_FIELD(checkpoint.keep_best), 1, {0, kMost},
                   "The number of snapshots with the lowest loss on the test data that are kept as well."),
      whole_number("checkpoint.keep_every", COHORT_FIELD(checkpoint.keep_every), 0, {0, kMost},
                   "Keep snapshots whose step is a multiple of this number as well; 0: none of them."),
      flag("checkpoint.background", COHORT_FIELD(checkpoint.background), true,
           "Write while training goes on, from a copy in memory; otherwise training waits."),
      flag("checkpoint.compress", COHORT_FIELD(checkpoint.compress), false,
           "Compress tensors with zstd where that makes them smaller."),
      whole_number(
          "checkpoint.full_every", COHORT_FIELD(checkpoint.full_every), 1, {1, kMost},
          "Every how many-th snapshot has the whole state; those between have what has changed since "
          "the last of these; 1: all."),
  };
}

}  // namespace cohort::config
