#include "base/units.h"
#include "config/sections.h"

#include <limits>

namespace cohort::config {
namespace {

constexpr int kMost = 1'000'000'000;

}  // namespace

std::vector<Key> train_keys() {
  return {
      whole_number("train.batch_size", COHORT_FIELD(train.batch_size), 64, {0, kMost},
                   "The number of samples of a step, over all ranks; 0: all samples."),
      whole_number("train.micro_batches", COHORT_FIELD(train.micro_batches), 0, {0, 1'000'000},
                   "The number of parts a batch is cut into; a rank computes its micro-batches one after the "
                   "other and accumulates their gradients; 0: one for each rank."),
      whole_number("train.epochs", COHORT_FIELD(train.epochs), 3, {1, kMost},
                   "The number of epochs: passes over all samples."),
      optional_whole_number(
          "train.steps", COHORT_FIELD(train.steps), {1, kMost},
          "The largest number of steps, if train.epochs does not end before; unset: no limit."),
      whole_number("train.evaluate_every", COHORT_FIELD(train.evaluate_every), 1, {0, kMost},
                   "Epochs between evaluations on the test data; 0: only at the end."),
      whole_number("train.patience", COHORT_FIELD(train.patience), 0, {0, kMost},
                   "End after this number of evaluations in a row without a better loss; 0: never."),
      large_whole_number(
          "train.seed", COHORT_FIELD(train.seed), 1, {0, std::numeric_limits<std::int64_t>::max()},
          "The seed of all random numbers of a run: initial parameters, order of samples, dropout, "
          "generated data."),
      word("train.deterministic", COHORT_FIELD(train.deterministic), {"world", "any-world"}, "world",
           "The runs that give the same bits: those with the same numbers of ranks and threads (world), or "
           "with "
           "any number of ranks "
           "(any-world, which requires train.micro_batches)."),
      optional_text(
          "train.directory", COHORT_FIELD(train.directory),
          {"The folder for the log of steps and the models, relative to the working directory; unset: runs/ "
           "and the name of the job file.",
           "runs/first"}),
      size("train.bucket_bytes", COHORT_FIELD(train.bucket_bytes), 4 * kMiB, {kKiB, 4 * kGiB},
           "The approximate size of a bucket: gradients that are reduced together."),
      flag("train.one_copy", COHORT_FIELD(train.one_copy), true,
           "Let all ranks of a host share one copy of the parameters, instead of one copy per rank."),
      whole_number("train.hash_every", COHORT_FIELD(train.hash_every), 100, {0, kMost},
                   "Steps between comparisons of the ranks' copies of the parameters; 0: never."),
      number_list(
          "train.rank_factors", COHORT_FIELD(train.rank_factors), {0.0, 1e6}, "[1, 0.5]",
          "The weight of the gradients and losses of each rank, one number per rank, in the means over "
          "all ranks; empty: 1 for every rank."),
      optional_duration("train.time_limit", COHORT_FIELD(train.time_limit),
                        {std::chrono::seconds(1), std::chrono::hours(24 * 365)}, "\"3 h\"",
                        "Stop training after this time as SIGTERM does; unset: no limit."),
  };
}

}  // namespace cohort::config
