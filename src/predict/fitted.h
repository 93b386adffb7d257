#pragma once

#include "data/open.h"
#include <cohort/model_facts.h>

#include <memory>
#include <string>

namespace cohort::predict {

/// Samples of `data`, one of the data sets of `opened`, as the model takes them: columns, classes and tokens
/// are found by name, and numbers have the mean and deviation of the model's training data. `where` is the
/// name of the data in errors.
///
/// A data set that was opened as for the training comes back as it is, to the last bit.
///
/// Lifetime: the view shares the ownership of its data.
/// Failure: kUsage if the data does not fit the model: text or numbers, shape, missing columns, classes or
/// characters that the model does not know.
Result<std::shared_ptr<const Dataset>> fitted(std::shared_ptr<const Dataset> data, const OpenedData& opened,
                                              const ModelFacts& facts, const std::string& where);

}  // namespace cohort::predict
