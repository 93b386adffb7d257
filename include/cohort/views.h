#pragma once

#include <cohort/dataset.h>

#include <functional>
#include <memory>

namespace cohort {

/// Views are data sets over data sets: they hold no samples of their own (cache() aside) and may be put over
/// each other.
///
///     auto train = cohort::shuffle(cohort::cache(cohort::transform(files, decode)), seed);
///
/// Threads: as Dataset; what they are given must be too.
/// Lifetime: a view keeps what it looks at.
/// Failure: UsageError for an index or a range outside of the data set.

/// What a view does to a sample; the number is that of the sample in the data set below, so that chance can
/// be keyed by it.
using SampleTransform = std::function<Sample(Sample sample, std::int64_t index)>;

/// Every sample as `change` returns it.
COHORT_EXPORT std::shared_ptr<Dataset> transform(std::shared_ptr<const Dataset> source,
                                                 SampleTransform change);

/// Keeps every sample once it was asked for. Nobody may write to the tensors it returns.
COHORT_EXPORT std::shared_ptr<Dataset> cache(std::shared_ptr<const Dataset> source);

/// Samples first … last-1, numbered from 0.
COHORT_EXPORT std::shared_ptr<Dataset> subset(std::shared_ptr<const Dataset> source, std::int64_t first,
                                              std::int64_t last);

/// All samples in another order, always the same one for the same seed.
COHORT_EXPORT std::shared_ptr<Dataset> shuffle(std::shared_ptr<const Dataset> source, std::uint64_t seed);

}  // namespace cohort
