#include "config/sections.h"

namespace cohort::config {
namespace {

constexpr int kMostUpdates = 1'000'000'000;

}  // namespace

std::vector<Key> average_keys() {
  return {
      word("average.kind", COHORT_FIELD(average.kind), {"none", "ema", "swa"}, "none",
           "Keep an average of the parameters beside them: an exponential moving average (ema), or the mean "
           "with equal weights (swa)."),
      real_number("average.decay", COHORT_FIELD(average.decay), 0.999, {0.0, 0.99999999},
                  "The share of the average in the next average, for ema."),
      flag("average.warmup", COHORT_FIELD(average.warmup), false,
           "Lower average.decay to (1+n)/(10+n) while that is less, where n is the number of averages so "
           "far."),
      whole_number("average.start", COHORT_FIELD(average.start), 0, {0, kMostUpdates},
                   "The update of the parameters after which the first average is made; 0: the first one."),
      whole_number("average.every", COHORT_FIELD(average.every), 1, {1, kMostUpdates},
                   "Updates of the parameters from one average to the next."),
      flag("average.evaluate", COHORT_FIELD(average.evaluate), false,
           "Evaluate the average instead of the parameters, so that best.safetensors is the best average."),
      flag("average.update_bn", COHORT_FIELD(average.update_bn), false,
           "Compute the statistics of batch normalisation anew for the average, in a pass over the training "
           "data, for average.safetensors and each evaluation of the average."),
  };
}

std::vector<Key> mask_keys() {
  return {
      real_number("mask.sparsity", COHORT_FIELD(mask.sparsity), 0.0, {0.0, 0.99999999},
                  "The part of the elements of each parameter that is set to zero before the first step, and "
                  "held there: those with the smallest magnitudes; 0: none."),
      text_list("mask.parameters", COHORT_FIELD(mask.parameters), "[\"*.weight\"]",
                "The parameters for mask.sparsity, by patterns of their names: `*` matches any number of "
                "characters, `?` exactly one; empty: those of two dimensions or more."),
      input_path(
          "mask.file", COHORT_FIELD(mask.file),
          {"A safetensors file with masks of zeros and ones under the names of their parameters, whose "
           "elements are held at zero where the mask is 0; empty: none.",
           "masks.safetensors"}),
  };
}

}  // namespace cohort::config
