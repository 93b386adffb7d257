#pragma once

#include <cohort/dataset.h>

#include <functional>
#include <memory>

namespace cohort {

/// Views are data sets made from other data sets. They can be stacked, and except for cache() they hold no
/// samples of their own.
///
///     auto train = cohort::shuffle(cohort::cache(cohort::transform(files, decode)), seed);
///
/// Threads: a view is as thread-safe as Dataset requires, if its source and its transform are.
/// Lifetime: a view shares ownership of its source.
/// Failure: UsageError for an index or a range outside of the data set.

/// A function applied to every sample. `index` is the sample's index in the source data set: random
/// augmentation keyed by it gives the same result on every rank.
using SampleTransform = std::function<Sample(Sample sample, std::int64_t index)>;

/// The samples of `source`, each passed through `change` whenever it is read.
COHORT_EXPORT std::shared_ptr<Dataset> transform(std::shared_ptr<const Dataset> source,
                                                 SampleTransform change);

/// The samples of `source`, each kept in memory once it was read. The returned tensors are shared: do not
/// write to them.
COHORT_EXPORT std::shared_ptr<Dataset> cache(std::shared_ptr<const Dataset> source);

/// The samples first … last-1 of `source`, with indices from 0.
COHORT_EXPORT std::shared_ptr<Dataset> subset(std::shared_ptr<const Dataset> source, std::int64_t first,
                                              std::int64_t last);

/// All samples of `source` in a random order that depends on `seed` only.
COHORT_EXPORT std::shared_ptr<Dataset> shuffle(std::shared_ptr<const Dataset> source, std::uint64_t seed);

}  // namespace cohort
