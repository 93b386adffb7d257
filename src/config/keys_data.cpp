#include "config/sections.h"

namespace cohort::config {
namespace {

constexpr int kMostSamples = 1'000'000'000;

// Where the samples are, or what makes them.
std::vector<Key> source_keys() {
  return {
      word("data.kind", COHORT_FIELD(data.kind),
           {"idx", "csv", "text", "digits", "spirals", "regression", "markov"}, "digits",
           "What is learned from: files (idx, csv, text) or what a generator makes (digits, spirals, "
           "regression, markov)."),
      text("data.path", COHORT_FIELD(data.path),
           {"The file to learn from, or for idx the folder with the four files; .gz is understood.",
            "data/mnist"}),
      text("data.test_path", COHORT_FIELD(data.test_path),
           {"The file to evaluate on; empty: a part of data.path.", "data/test.csv"}),
      word("data.tokens", COHORT_FIELD(data.tokens), {"byte", "char"}, "char",
           "What a token of text is: a byte, or a character of those that occur."),
      text("data.target_column", COHORT_FIELD(data.target_column),
           {"The column of a CSV file that is to be predicted; empty: the last one.", "price"}),
      whole_number("data.samples", COHORT_FIELD(data.samples), 2000, {1, kMostSamples},
                   "How many samples a generator makes to learn from."),
      whole_number("data.test_samples", COHORT_FIELD(data.test_samples), 500, {0, kMostSamples},
                   "How many samples a generator makes to evaluate on."),
      real_number("data.test_share", COHORT_FIELD(data.test_share), 0.1, {0.0, 0.9},
                  "The share of a file, at its end, that is kept for evaluation where data.test_path is "
                  "empty."),
  };
}

// What a sample looks like, and how it comes.
std::vector<Key> sample_keys() {
  return {
      whole_number("data.classes", COHORT_FIELD(data.classes), 10, {2, 65536},
                   "How many classes the generators digits (up to 10) and spirals make, or how many letters "
                   "markov."),
      whole_number("data.features", COHORT_FIELD(data.features), 16, {1, 1'000'000},
                   "How many numbers a sample of the generator regression has."),
      whole_number("data.image_size", COHORT_FIELD(data.image_size), 28, {8, 1024},
                   "Height and width of the images that the generator digits makes."),
      real_number("data.noise", COHORT_FIELD(data.noise), 0.1, {0.0, 100.0},
                  "How much noise a generator adds: its standard deviation."),
      whole_number("data.context", COHORT_FIELD(data.context), 64, {1, 65536},
                   "How many tokens of text a sample has."),
      flag("data.normalise", COHORT_FIELD(data.normalise), false,
           "Shift and scale inputs to mean 0 and deviation 1."),
      flag("data.shuffle", COHORT_FIELD(data.shuffle), true,
           "Give every epoch an order of its own; otherwise each takes the samples as they are."),
      whole_number("data.loader_threads", COHORT_FIELD(data.loader_threads), 1, {1, 256},
                   "Threads of each rank that prepare batches ahead."),
      whole_number("data.prefetch", COHORT_FIELD(data.prefetch), 4, {1, 1024},
                   "How many batches of slots each rank prepares ahead."),
  };
}

}  // namespace

std::vector<Key> data_keys() {
  std::vector<Key> keys = source_keys();
  for (Key& key : sample_keys()) keys.push_back(std::move(key));
  return keys;
}

}  // namespace cohort::config
