#include "config/data_kinds.h"
#include "config/sections.h"

namespace cohort::config {
namespace {

constexpr int kMostSamples = 1'000'000'000;

std::vector<std::string> names_of_kinds() {
  std::vector<std::string> names;
  for (const DataKind& kind : kDataKinds) names.emplace_back(kind.name);
  return names;
}

// The source of the samples.
std::vector<Key> source_keys() {
  return {
      word("data.kind", COHORT_FIELD(data.kind), names_of_kinds(), "digits",
           "The training data: files (idx, cifar, csv, text) or generated samples (digits, spirals, "
           "regression, markov)."),
      input_path("data.path", COHORT_FIELD(data.path),
                 {"The file with the training data, or for idx and cifar the folder with their files; may be "
                  "gzipped.",
                  "data/mnist"}),
      input_path("data.test_path", COHORT_FIELD(data.test_path),
                 {"The file with the test data; empty: a part of data.path.", "data/test.csv"}),
      word("data.tokens", COHORT_FIELD(data.tokens), {"byte", "char"}, "char",
           "The tokens of text: bytes, or the characters that occur in it."),
      text("data.target_column", COHORT_FIELD(data.target_column),
           {"The column of a CSV file that the model predicts; empty: the last column.", "price"}),
      word("data.target", COHORT_FIELD(data.target), {"auto", "class", "number"}, "auto",
           "The target column of a CSV file holds classes or numbers; auto: text is classes, numbers with a "
           "fraction are numbers, and whole numbers are an error that asks for this key."),
      whole_number("data.samples", COHORT_FIELD(data.samples), 2000, {1, kMostSamples},
                   "The number of training samples that a generator makes."),
      whole_number("data.test_samples", COHORT_FIELD(data.test_samples), 500, {0, kMostSamples},
                   "The number of test samples that a generator makes."),
      optional_real_number("data.test_share", COHORT_FIELD(data.test_share), {0.0, 0.9}, "0.1",
                           "The share of the training file that is test data; unset: 0.1, or the test files "
                           "of a folder of images if there are any."),
      word("data.split", COHORT_FIELD(data.split), {"auto", "random", "stratified", "end"}, "auto",
           "The samples of the training file that are test data: random ones by train.seed, random ones with "
           "the same share of each class (stratified), or the last ones (end); auto: the end of text, "
           "random ones of other files."),
  };
}

// The shape of samples, and how they are loaded.
std::vector<Key> sample_keys() {
  return {
      whole_number("data.classes", COHORT_FIELD(data.classes), 10, {2, 65536},
                   "The number of classes of digits (up to 10) and spirals, or of letters of markov."),
      whole_number("data.features", COHORT_FIELD(data.features), 16, {1, 1'000'000},
                   "The number of inputs of a sample of regression."),
      whole_number("data.image_size", COHORT_FIELD(data.image_size), 28, {8, 1024},
                   "Height and width of the images of digits, in pixels."),
      real_number("data.noise", COHORT_FIELD(data.noise), 0.1, {0.0, 100.0},
                  "The standard deviation of the noise that a generator adds."),
      whole_number("data.context", COHORT_FIELD(data.context), 64, {1, 65536},
                   "The number of tokens in a sample of text."),
      optional_whole_number("data.stride", COHORT_FIELD(data.stride), {1, 1'000'000},
                            "The number of tokens between the beginnings of two samples of text; unset: "
                            "data.context, so that samples do not overlap."),
      flag("data.normalize", COHORT_FIELD(data.normalize), false,
           "Shift and scale inputs to mean 0 and standard deviation 1."),
      flag("data.shuffle", COHORT_FIELD(data.shuffle), true,
           "Shuffle the samples, in another order in every epoch."),
      whole_number("data.loader_threads", COHORT_FIELD(data.loader_threads), 1, {1, 256},
                   "Threads of each rank that prepare batches ahead."),
      whole_number("data.prefetch", COHORT_FIELD(data.prefetch), 4, {1, 1024},
                   "The number of micro-batches that each rank prepares ahead."),
  };
}

}  // namespace

std::vector<Key> data_keys() {
  std::vector<Key> keys = source_keys();
  for (Key& key : sample_keys()) keys.push_back(std::move(key));
  return keys;
}

}  // namespace cohort::config
