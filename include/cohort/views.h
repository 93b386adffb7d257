#pragma once

#include <cohort/dataset.h>
#include <cohort/random.h>

#include <functional>
#include <memory>
#include <vector>

namespace cohort {

/// Views are data sets made from other data sets. They can be stacked, and except for cache() they hold no
/// samples of their own.
///
///     auto train = cohort::augment(cohort::cache(cohort::transform(files, decode)), flip);
///
/// Threads: a view is as thread-safe as Dataset requires, if its source and its functions are.
/// Lifetime: a view shares ownership of its source.
/// Failure: UsageError for an index or a range outside of the data set.

/// A function applied to every sample. `index` is the sample's index in the source data set.
using SampleTransform = std::function<Sample(Sample sample, std::int64_t index)>;

/// The samples of `source`, each passed through `change` whenever it is read.
COHORT_EXPORT std::shared_ptr<Dataset> transform(std::shared_ptr<const Dataset> source,
                                                 SampleTransform change);

/// A random change of a sample. `random` is a stream of its own for each (seed, epoch, index), where `index`
/// is the sample's index in the source data set.
using SampleAugmentation = std::function<Sample(Sample sample, const RandomStream& random)>;

/// The samples of `source`, each changed at random whenever it is read: differently in each epoch of a
/// training, but the same on any number of ranks and in a repetition. All evaluations see the same change.
///
///     cohort::augment(images, [](cohort::Sample sample, const cohort::RandomStream& random) {
///       if (random.uniform(0) < 0.5) sample.input = sample.input.flip(-1);
///       return sample;
///     });
///
/// Augmentations that lie over each other draw independent numbers.
COHORT_EXPORT std::shared_ptr<Dataset> augment(std::shared_ptr<const Dataset> source,
                                               SampleAugmentation change);

/// The samples of `source`, each kept in memory once it was read. A cache over augment() keeps the samples
/// that evaluations see, in every epoch: augment what is cached instead. The returned tensors are shared: do
/// not write to them.
COHORT_EXPORT std::shared_ptr<Dataset> cache(std::shared_ptr<const Dataset> source);

/// The samples first … last-1 of `source`, with indices from 0.
COHORT_EXPORT std::shared_ptr<Dataset> subset(std::shared_ptr<const Dataset> source, std::int64_t first,
                                              std::int64_t last);

/// The samples of `source` with these indices, in this order.
///
/// Failure: throws UsageError for an index that `source` does not have.
/// Cost: eight bytes of memory for each index.
COHORT_EXPORT std::shared_ptr<Dataset> select(std::shared_ptr<const Dataset> source,
                                              std::vector<std::int64_t> indices);

/// All samples of `source` in a random order that depends on `seed` only.
COHORT_EXPORT std::shared_ptr<Dataset> shuffle(std::shared_ptr<const Dataset> source, std::uint64_t seed);

}  // namespace cohort
