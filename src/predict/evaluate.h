#pragma once

#include <cohort/dataset.h>
#include <cohort/model_file.h>

#include <optional>

namespace cohort::predict {

/// The loss and accuracy of a model on a data set.
struct DataScore {
  std::int64_t samples = 0;
  double loss = 0;                   ///< mean over the samples
  std::optional<double> accuracy{};  ///< if there are classes or tokens
};

/// Evaluates on this process alone.
///
/// Failure: throws UsageError if the loss of the facts is unknown, or targets and outputs do not fit.
DataScore evaluate_on(const LoadedModel& model, const Dataset& data);

}  // namespace cohort::predict
