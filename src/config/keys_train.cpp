#include "config/sections.h"

#include <limits>

namespace cohort::config {
namespace {

constexpr int kMost = 1'000'000'000;
constexpr std::uint64_t kKiB = 1ull << 10;
constexpr std::uint64_t kMiB = 1ull << 20;
constexpr std::uint64_t kGiB = 1ull << 30;

}  // namespace

std::vector<Key> train_keys() {
  return {
      whole_number("train.batch", COHORT_FIELD(train.batch), 64, {0, kMost},
                   "Samples of a step, over all ranks; 0: all there are."),
      whole_number("train.slots", COHORT_FIELD(train.slots), 0, {0, 1'000'000},
                   "Into how many parts a batch is cut; a rank evaluates its slots one after the other; 0: "
                   "one for each rank."),
      whole_number("train.epochs", COHORT_FIELD(train.epochs), 3, {1, kMost},
                   "How often every sample is used."),
      optional_whole_number("train.steps", COHORT_FIELD(train.steps), {1, kMost},
                            "End after so many steps, whatever train.epochs says; unset, the epochs decide."),
      whole_number("train.evaluate_every", COHORT_FIELD(train.evaluate_every), 1, {0, kMost},
                   "Epochs between evaluations on the test data; 0: only at the end."),
      whole_number("train.patience", COHORT_FIELD(train.patience), 0, {0, kMost},
                   "End after so many evaluations in a row without a better loss; 0: never."),
      large_whole_number("train.seed", COHORT_FIELD(train.seed), 1,
                         {0, std::numeric_limits<std::int64_t>::max()},
                         "What all random numbers of a run follow from: parameters, order, dropout, "
                         "generated data."),
      word("train.deterministic", COHORT_FIELD(train.deterministic), {"world", "any-world"}, "world",
           "The same bits in every run with as many ranks and threads (world), or with any number of ranks "
           "(any-world, which wants train.slots)."),
      optional_text(
          "train.directory", COHORT_FIELD(train.directory),
          {"Where the log of steps and the models are written; unset: runs/ and the name of the job "
           "file.",
           "runs/first"}),
      size("train.bucket_bytes", COHORT_FIELD(train.bucket_bytes), 4 * kMiB, {kKiB, 4 * kGiB},
           "About how many bytes of gradients are reduced at a time."),
      flag("train.one_copy", COHORT_FIELD(train.one_copy), true,
           "Let all ranks of a host look at one copy of the parameters; otherwise each has its own."),
      whole_number("train.hash_every", COHORT_FIELD(train.hash_every), 100, {0, kMost},
                   "Steps between comparisons of the ranks' copies of the parameters; 0: never."),
  };
}

}  // namespace cohort::config
